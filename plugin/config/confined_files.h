#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "plugin/config/source_text.h"
#include "plugin/functions/functions.h"

namespace modlock {

// The files that expressions below `root` may read: those in `bounds` with every link resolved, with `documents` over
// the disk. Relative paths start at the root. Directories that are links are followed, unless they point outside the
// bounds or back into themselves. Errors: PATH_OUTSIDE_ROOT (also for paths that start at a home directory, "~/x"),
// NOT_FOUND, IO_ERROR (also if it is not a regular file), LIMIT_EXCEEDED for a file beyond kMaxReadBytes or a directory
// with more than kMaxListed entries.
std::shared_ptr<const eval::FileAccess> make_confined_files(const std::filesystem::path& root,
                                                            std::vector<std::filesystem::path> bounds,
                                                            Documents documents);

inline constexpr std::size_t kMaxReadBytes = 64U << 20U;
inline constexpr std::size_t kMaxListed = 100'000;

}  // namespace modlock
