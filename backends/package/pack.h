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

// Receives the next piece of a stream; returns false to stop the stream.
using ByteSink = std::function<bool(std::string_view)>;

// Writes the package at `root` as a tar.gz, piece by piece, in constant memory: the entries of list_tree() with the
// content that the h1 covers, so that the unpacked package has the same h1. Links become regular files, because clients
// do not unpack links. The stream is completed only if the package has this h1 ("h1:…"). Errors: HASH_MISMATCH, with
// the stream truncated; those of list_tree(); IO_ERROR (also if the sink stops); REQUEST_CANCELLED and
// DEADLINE_EXCEEDED.
Result<void> pack_tar_gz(const std::filesystem::path& root, std::string_view h1, const ByteSink& sink,
                         const Context& context);

// The same as a zip. Names are sorted, all times are 1980-01-01, and modes are 0644 and 0755, so the same tree has the
// same bytes.
Result<void> pack_zip(const std::filesystem::path& root, std::string_view h1, const ByteSink& sink,
                      const Context& context);

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
