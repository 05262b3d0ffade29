#pragma once

#include <filesystem>
#include <string>

#include "protocol/base/result.h"

namespace modlock {

// A subdirectory of a package as an address names it, with `*`, `?` and `[…]` replaced by the one directory that fits
// (go-getter's SubdirGlob); without them it is returned as it is. Errors: NOT_FOUND (none fits), SOURCE_INVALID
// (several do), in one sentence without the module's name.
Result<std::string> expand_subdir(const std::filesystem::path& package, const std::string& subdir);

}  // namespace modlock
