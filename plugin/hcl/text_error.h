#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/error.h"

namespace modlock::hcl {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Why a text cannot be read, from `start` on: LIMIT_EXCEEDED for one of 4 GiB and more, whose places a Position cannot
// hold, or an error with this code for the first byte that is NUL or no part of well-formed UTF-8. It lies in `path`.
// nullopt: nothing is wrong.
std::optional<Error> text_error(std::string_view text, Position start, const std::string& path, Code code);

}  // namespace modlock::hcl
