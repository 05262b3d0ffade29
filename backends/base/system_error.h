#pragma once

#include <filesystem>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// IO_ERROR for a system call that failed with `reason` (an errno): `cannot <what> "<path>": <the system's reason>`.
// For reasons that a person can act on (full disk, no permission, read-only file system) the hint says how.
tl::unexpected<Error> system_failure(std::string_view what, const std::filesystem::path& path, int reason);

}  // namespace modlock
