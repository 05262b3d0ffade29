#pragma once

#include <filesystem>
#include <functional>
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

}  // namespace modlock
