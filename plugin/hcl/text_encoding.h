#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/error.h"

namespace modlock::hcl {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What is wrong with the first byte, from `start` on, that is NUL or no part of well-formed UTF-8; nullopt where there
// is none. The error has this code and lies in `path`.
std::optional<Error> encoding_error(std::string_view text, Position start, const std::string& path, Code code);

}  // namespace modlock::hcl
