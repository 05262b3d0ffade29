#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// An operating system and an architecture, as Go names them: what a provider package is built for.
struct Platform {
  std::string os;
  std::string arch;

  // "linux_amd64": exactly one underscore, nothing empty, no blanks (ParsePlatform of OpenTofu), and, for it becomes
  // part of a URL and of a path, ASCII letters, digits and "-" alone. Errors: INVALID_PARAMS naming the text.
  static Result<Platform> parse(std::string_view text);
  // Of this machine.
  static Platform current();

  std::string to_string() const { return os + "_" + arch; }
  auto operator<=>(const Platform&) const = default;
};

}  // namespace modlock
