#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// The files of a tree, of any kind. Excludes files that clients and Terragrunt create (`.terraform`,
// `.terragrunt-cache`), and `.git`.
struct TreeFiles {
  std::filesystem::path top;               // absolute
  std::vector<std::string> paths;          // relative to `top`, sorted
  std::vector<std::string> unlisted = {};  // directories that cannot be listed, as above
  std::set<std::string> sparse = {};       // the `paths` that a sparse checkout leaves out
};

// Lists the files in and below a directory. In a git repository, these are the files that git tracks or would add,
// without submodules and ignored files. Otherwise, all files, without following symbolic links to directories. Errors:
// TOOL_MISSING (git); IO_ERROR (git fails); those of the context.
Result<TreeFiles> list_tree_files(const std::filesystem::path& top, const Context& context);

// Lists all files in and below a directory of the tree, also those that git ignores. The paths are relative to `top`.
TreeFiles list_ignored_files(const std::filesystem::path& top, const std::filesystem::path& directory);

}  // namespace modlock
