#pragma once

#include <string>
#include <string_view>

#include "plugin/functions/functions.h"

namespace modlock::eval {

// Paths as Go's path/filepath handles them on Unix: by their text alone.

// Without ".", "//" and "x/..", and without a "/" at the end; "." for nothing.
std::string clean_path(std::string_view path);
// `path` below `base`, cleaned. Empty parts are left out.
std::string join_path(std::string_view base, std::string_view path);
std::string base_name(std::string_view path);
std::string directory_name(std::string_view path);
// The way from `base` to `path`, which are both absolute or both relative and do not start with "..".
std::string relative_path(std::string_view base, std::string_view path);

// A path with the home directory in place of a leading "~". The error says why there is none.
tl::expected<std::string, std::string> expand_home(const std::string& path);

// The bytes of the file that the first argument names, "~" being the home directory. The error is FileAccess's, in
// OpenTofu's words where there is no such file.
tl::expected<std::string, FunctionError> read_file(const Call& call);

// An error of FileAccess about the first argument.
FunctionError file_error(const Call& call, const Error& error);

}  // namespace modlock::eval
