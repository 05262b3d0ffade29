#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock::cli {

// The files of a tree, of whatever kind. What clients and Terragrunt make (`.terraform`, `.terragrunt-cache`) is left
// out, and so is `.git`.
struct TreeFiles {
  std::filesystem::path top;               // absolute: of the repository, or the directory that was named
  std::vector<std::string> paths;          // relative to `top`, sorted
  std::vector<std::string> unlisted = {};  // directories that cannot be listed, likewise
};

// In a git repository the files of the whole repository that git tracks or would add: submodules, and what an ignore
// file names, are left out. Outside of one all files in and below `directory`; symbolic links to directories are not
// followed. Errors: TOOL_MISSING (git); IO_ERROR (git fails); those of the context.
Result<TreeFiles> list_tree(const std::filesystem::path& directory, const Context& context);

}  // namespace modlock::cli
