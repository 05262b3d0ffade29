#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plugin/cli/interrupt.h"
#include "protocol/base/result.h"

namespace modlock::cli {

// Runs a program in the foreground with the streams and the terminal of this process, and with these variables added to
// its environment. Signals that arrive meanwhile are forwarded (Interrupt::pass_to). With a terminal the program stays
// in our process group, so that a typed signal reaches it once; otherwise it gets a group of its own, which signals are
// forwarded to. Returns its exit code, or 128 + n if signal n ended it. Errors: TOOL_MISSING if the program is not on
// PATH; IO_ERROR.
Result<int> run_in_foreground(const std::vector<std::string>& argv, const std::filesystem::path& directory,
                              const std::map<std::string, std::string>& environment, Interrupt& interrupt);

}  // namespace modlock::cli
