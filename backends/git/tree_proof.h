#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/package/tree_hash.h"
#include "protocol/base/result.h"

namespace modlock::git {

// What the trees of a commit prove of a package.
enum class Proof {
  none,   // it has files of submodules, which the trees do not contain
  kinds,  // its names, links and executable bits; attributes changed the content of a file
  content
};

// Compares a package with the trees of its commit. `objects` are those of ObjectReader::commit_and_trees(), from
// anyone: they count only if their ids match the commit. `entries` are list_tree() of `directory`. Errors:
// HASH_MISMATCH (the objects are not those of the commit, or the package has another name, kind or content); IO_ERROR.
Result<Proof> prove_tree(std::string_view objects, const std::string& commit, const std::filesystem::path& directory,
                         const std::vector<TreeEntry>& entries);

}  // namespace modlock::git
