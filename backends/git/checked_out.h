#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace modlock::git {

// The full id of the commit that is checked out in a work tree, as its `.git` directory says: HEAD, followed through
// one branch, loose or packed. Only files are read: no git runs, for the repository's own configuration may name
// programs. nullopt: it has no `.git` directory of its own (a file or a link there is none), or what stands there names
// no commit.
std::optional<std::string> checked_out_commit(const std::filesystem::path& work_tree);

}  // namespace modlock::git
