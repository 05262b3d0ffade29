#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// Returns the nearest directory from `root` upwards that contains `.git` (a directory, or the file of a worktree or
// submodule), or `root` itself if there is none. Absolute and lexically normal; links are not resolved.
std::filesystem::path find_repository_root(const std::filesystem::path& root);

// Returns the data directory, in which OpenTofu installs modules and providers: `named` (from TF_DATA_DIR or `dataDir`,
// relative to the root if it is relative), else `.terraform` below the root. Absolute and lexically normal. Errors:
// PATH_OUTSIDE_ROOT if `.terraform` is a link to a directory outside of the root, which has to be named explicitly.
Result<std::filesystem::path> data_directory(const std::filesystem::path& root,
                                             const std::optional<std::filesystem::path>& named);

// Returns the path, absolute and lexically normal, if it is in one of the `bounds` (or equal to one) with every link
// resolved; it need not exist. Errors: PATH_OUTSIDE_ROOT naming the path and the bounds, also for what is below a
// `.git` in a bound; IO_ERROR (a link cycle, no permission).
Result<std::filesystem::path> confine(const std::filesystem::path& path,
                                      const std::vector<std::filesystem::path>& bounds);

// Returns the directory of the unit if the path is in Terragrunt's cache below it; empty: it is not.
std::filesystem::path find_unit_of_copy(const std::filesystem::path& path);

// Whether the path is below `bound`, and not equal to it, with no link on the way down. Then `bound` is not inside the
// path. Also false if this cannot be determined. Neither need exist.
bool lies_plainly_below(const std::filesystem::path& path, const std::filesystem::path& bound);

}  // namespace modlock
