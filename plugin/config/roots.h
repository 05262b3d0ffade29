#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// The nearest directory from `root` upwards that holds `.git` (a directory, or the file of a worktree or submodule);
// `root` itself where there is none. Absolute and lexically normal, links as they are.
std::filesystem::path find_repository_root(const std::filesystem::path& root);

// Where OpenTofu keeps what it installs: `named` (what TF_DATA_DIR or `dataDir` says, taken from the root where it is
// relative), else `.terraform` below the root. Absolute and lexically normal.
// Errors: PATH_OUTSIDE_ROOT where `.terraform` is a link that leads out of the root: that has to be named.
Result<std::filesystem::path> data_directory(const std::filesystem::path& root,
                                             const std::optional<std::filesystem::path>& named);

// The path, absolute and lexically normal, if it lies in one of the `bounds` (or is one) with every link resolved; it
// need not exist. Errors: PATH_OUTSIDE_ROOT naming the path and the bounds; IO_ERROR (a link cycle, no permission).
Result<std::filesystem::path> confine(const std::filesystem::path& path,
                                      const std::vector<std::filesystem::path>& bounds);

// Whether the path lies below another, and is not that one, with no link on the way down: then the other does not lie
// in it. False also where that cannot be told. Neither need exist.
bool lies_plainly_below(const std::filesystem::path& path, const std::filesystem::path& bound);

}  // namespace modlock
