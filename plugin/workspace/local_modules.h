#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "backends/base/context.h"

namespace modlock {

// Returns whether a root module reads one of the files: a file in its own directory or in that of a local module that
// it calls (also from a test file), or a settings file in a directory above it. Reads only configuration files, so it
// also works for a root whose settings or lock file cannot be read. Paths are absolute and lexically normal. nullopt:
// unknown, because a configuration file cannot be read completely, or a source is computed.
std::optional<bool> reads_any(const std::filesystem::path& root, const std::vector<std::filesystem::path>& files,
                              const Context& context);

// Returns whether the file contains settings for the root: it has the name of a settings file, and it is in the root or
// above it.
bool is_settings_of(const std::filesystem::path& root, const std::filesystem::path& file);

}  // namespace modlock
