#pragma once

#include <string>
#include <string_view>

#include "plugin/functions/functions.h"

namespace modlock::eval {

// Handles paths like Go's path/filepath on Unix: only by their text.

// The path without ".", "//", "x/.." and a "/" at the end; "." for an empty path.
std::string clean_path(std::string_view path);
// `path` below `base`, cleaned. Empty parts are left out.
std::string join_path(std::string_view base, std::string_view path);
std::string base_name(std::string_view path);
std::string directory_name(std::string_view path);
// The relative path from `base` to `path`. Both are absolute, or both are relative and do not start with "..".
std::string relative_path(std::string_view base, std::string_view path);

// Replaces a leading "~" by the home directory. The error says why there is none.
tl::expected<std::string, std::string> expand_home(const std::string& path);

// Returns the bytes of the file that the first argument names; a leading "~" is the home directory. The error is that
// of FileAccess, in OpenTofu's wording if the file does not exist.
tl::expected<std::string, FunctionError> read_file(const Call& call);

// An error of FileAccess about the first argument.
FunctionError file_error(const Call& call, const Error& error);

}  // namespace modlock::eval
