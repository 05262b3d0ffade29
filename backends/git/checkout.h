#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Writes the tree of a commit into a new directory below `parent`, as a clone without any configuration has it: the
// tree's own attributes (text, eol, ident, working-tree-encoding) apply, filters and hooks do not run. An LFS pointer
// stays one, with a warning. Errors: SOURCE_UNSUPPORTED naming a submodule; ARCHIVE_UNSAFE naming an entry that no
// package may have; IO_ERROR; TOOL_MISSING; REQUEST_CANCELLED; DEADLINE_EXCEEDED.
Result<FetchedTree> check_out(const Repository& repository, const std::string& commit,
                              const std::filesystem::path& parent, std::string_view display, const Context& context);

}  // namespace modlock::git
