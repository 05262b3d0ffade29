#pragma once

#include <filesystem>
#include <string>

#include "protocol/base/result.h"

namespace modlock {

// What a link inside a package leads to.
enum class LinkTarget { file, directory, nothing };

// Follows the link `name` (relative to `root`, `/`-separated) step by step without ever looking outside `root`. Version
// control entries count as not there. Where a step leads to nothing, the rest of the way is judged by its text.
// Errors: ARCHIVE_UNSAFE naming the link (absolute, leaves the package, a cycle, or ends at a device, pipe or socket);
// IO_ERROR.
Result<LinkTarget> follow_link(const std::filesystem::path& root, const std::string& name);

}  // namespace modlock
