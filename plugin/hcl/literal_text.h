#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace modlock::hcl {

// A backslash that starts no escape sequence.
struct BadEscape {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::string message;
  std::string hint;
};

// Appends what the raw text of a template's literal stands for: "$${" is "${" and "%%{" is "%{"; in quoted strings
// backslashes escape as well. The first bad escape ends it.
std::optional<BadEscape> decode_literal_text(std::string_view raw, bool quoted, std::string& into);

}  // namespace modlock::hcl
