#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// The operating system and architecture that a provider package is built for, as Go names them.
struct Platform {
  std::string os;
  std::string arch;

  // Parses "linux_amd64": exactly one underscore, no empty part, no blanks (ParsePlatform of OpenTofu). Because it
  // becomes part of a URL and of a path, only ASCII letters, digits and "-" are allowed. Errors: INVALID_PARAMS naming
  // the text.
  static Result<Platform> parse(std::string_view text);
  static Platform current();

  std::string to_string() const { return os + "_" + arch; }
  auto operator<=>(const Platform&) const = default;
};

}  // namespace modlock
