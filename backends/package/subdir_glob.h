#pragma once

#include <filesystem>
#include <string>

#include "protocol/base/result.h"

namespace modlock {

// Replaces `*`, `?` and `[…]` in a subdirectory of a package, as an address names it, by the only directory that
// matches (go-getter's SubdirGlob). Without them it is returned unchanged. Errors: NOT_FOUND (no match), SOURCE_INVALID
// (several matches), in one sentence without the module's name.
Result<std::string> expand_subdir(const std::filesystem::path& package, const std::string& subdir);

}  // namespace modlock
