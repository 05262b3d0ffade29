#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "backends/base/context.h"

namespace modlock::cli {

// Whether a root module reads one of the files: a file in its own directory, in that of a local module that it calls
// (from a test file, too), or a settings file in a directory above it. It is told from the configuration files only, so
// it is known of a root whose settings or lock file cannot be read, too. Paths are absolute and lexically normal.
// nullopt: unknown, because a configuration file cannot be read to its end, or a source is computed.
std::optional<bool> reads_any(const std::filesystem::path& root, const std::vector<std::filesystem::path>& files,
                              const Context& context);

// Whether the file has settings for the root: its name is that of settings files, and it is in the root or above it.
bool is_settings_of(const std::filesystem::path& root, const std::filesystem::path& file);

}  // namespace modlock::cli
