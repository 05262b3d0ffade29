#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// The output of a git command over the repository that contains `root`; nullopt if git fails or is not installed. It
// uses neither the network nor any program that the repository configures. Errors: IO_ERROR if git cannot be started;
// REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<std::string>> run_local_git(const std::filesystem::path& root,
                                                 const std::vector<std::string>& arguments, const Context& context);

}  // namespace modlock
