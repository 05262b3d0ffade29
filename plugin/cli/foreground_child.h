#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plugin/cli/interrupt.h"
#include "protocol/base/result.h"

namespace modlock::cli {

// Runs a program in our place: with our streams and our terminal, and with these variables on top of our environment.
// Signals that come meanwhile are its own (Interrupt::pass_to). Where there is a terminal it stays in our process
// group, so that what is typed there reaches it once; else it gets a group of its own, which signals are passed to.
// Its exit code, 128 + n where signal n ended it. Errors: TOOL_MISSING where the program is not on PATH; IO_ERROR.
Result<int> run_in_foreground(const std::vector<std::string>& argv, const std::filesystem::path& directory,
                              const std::map<std::string, std::string>& environment, Interrupt& interrupt);

}  // namespace modlock::cli
