#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// Takes the next piece of a stream; false: nobody wants more.
using ByteSink = std::function<bool(std::string_view)>;

// The package at `root` as a tar.gz, piece by piece, in constant memory: the entries of list_tree(), each as it counts
// for the h1, so that unpacked it has the same one. Links are not in it: clients unpack none. The stream ends only
// where the package has this h1 ("h1:…"). Errors: HASH_MISMATCH, with the stream cut off; those of list_tree();
// IO_ERROR (also where the sink wants no more); REQUEST_CANCELLED and DEADLINE_EXCEEDED.
Result<void> pack_tar_gz(const std::filesystem::path& root, std::string_view h1, const ByteSink& sink,
                         const Context& context);

}  // namespace modlock
