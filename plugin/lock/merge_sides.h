#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/context.h"
#include "protocol/result.h"

namespace modlock {

// The texts of a file on the sides of a merge, and of their common ancestor. A side that does not have the file has the
// empty text.
struct MergeSides {
  std::optional<std::string> base;  // nullopt: unknown
  std::vector<std::string> sides;   // ours, theirs
};

// Returns what a merge, rebase, cherry-pick, revert or stash that git has not completed makes of a file: stages 1 to 3
// of the index, or, if the conflict is marked as resolved, HEAD and the commit that is being applied. `repository` is
// the top directory of the work tree (find_repository_root()), `path` is relative to `root`. nullopt: nothing is under
// way, or no git is installed. Reads the local repository only. Errors: IO_ERROR if git cannot be started or a stage
// cannot be read; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<MergeSides>> find_merge_sides(const std::filesystem::path& repository,
                                                   const std::filesystem::path& root, const std::string& path,
                                                   const Context& context);

}  // namespace modlock
