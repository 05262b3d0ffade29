#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// Writes files of a directory as an uncompressed tar, in the order of their names, with the mode 0644 and without times
// and owners, so that the same files have the same bytes. Errors: IO_ERROR; cancellation.
Result<void> write_tar(const std::filesystem::path& directory, const std::set<std::string>& names,
                       const std::filesystem::path& output, const Context& context);

// Extracts the regular files of an uncompressed tar that `is_wanted` accepts by name and size. Names must be relative
// and without "..", below a directory without links. Other entries are ignored. Errors: SOURCE_INVALID (not a tar, or
// damaged); LIMIT_EXCEEDED (more than `limit` bytes, or than the archive has: it has sparse files); IO_ERROR;
// cancellation.
Result<void> extract_tar(const std::filesystem::path& archive, const std::filesystem::path& directory,
                         const std::function<bool(std::string_view, std::uint64_t)>& is_wanted, std::uint64_t limit,
                         const Context& context);

}  // namespace modlock
