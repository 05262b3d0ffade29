#pragma once

#include <string>

#include "plugin/functions/functions.h"

namespace modlock::eval {

// A path with the home directory in place of a leading "~". The error says why there is none.
tl::expected<std::string, std::string> expand_home(const std::string& path);

// The bytes of the file that the first argument names, "~" being the home directory. The error is FileAccess's, in
// OpenTofu's words where there is no such file.
tl::expected<std::string, FunctionError> read_file(const Call& call);

// An error of FileAccess about the first argument.
FunctionError file_error(const Call& call, const Error& error);

}  // namespace modlock::eval
