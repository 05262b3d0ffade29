#pragma once

#include <string>
#include <string_view>

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

}  // namespace modlock::eval
