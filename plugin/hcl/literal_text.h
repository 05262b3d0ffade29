#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace modlock::hcl {

// A backslash that starts no escape sequence.
struct BadEscape {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::string message;
  std::string hint;
};

// What the raw text of a template's literal stands for: "$${" is "${" and "%%{" is "%{"; in quoted strings backslashes
// escape as well.
tl::expected<std::string, BadEscape> decode_literal_text(std::string_view raw, bool quoted);

}  // namespace modlock::hcl
