#include "plugin/hcl/literal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/hcl/characters.h"

namespace modlock::hcl {
namespace {

std::optional<char> simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '"':
    case '\\':
      return c;
    default:
      return std::nullopt;
  }
}

std::optional<char32_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<char32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<char32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<char32_t>(c - 'A' + 10);
  return std::nullopt;
}

// Decodes the escape sequence at `at` and goes behind it.
std::optional<BadEscape> decode_escape(std::string_view raw, std::size_t& at, std::string& out) {
  const char kind = at + 1 < raw.size() ? raw[at + 1] : '\0';
  if (const auto simple = simple_escape(kind)) {
    out.push_back(*simple);
    at += 2;
    return std::nullopt;
  }
  if (kind != 'u' && kind != 'U') {
    const std::size_t size = at + 1 < raw.size() ? grapheme_end(raw, at + 1) - at : 1;
    const bool sign = kind == '$' || kind == '%';
    return BadEscape{
        at, size,
        fmt::format("expected one of \\n \\r \\t \\\" \\\\ \\uXXXX \\UXXXXXXXX behind a backslash, found {}",
                    quoted_for_message(raw.substr(at, size))),
        sign ? fmt::format("write {0}{0}{{ for plain text that reads {0}{{", kind) : "write \\\\ for one backslash"};
  }
  const std::size_t digits = kind == 'u' ? 4 : 8;
  char32_t value = 0;
  std::size_t size = 2;
  while (size < digits + 2 && at + size < raw.size()) {
    const auto digit = hex_digit(raw[at + size]);
    if (!digit) break;
    value = (value << 4) | *digit;
    ++size;
  }
  if (size < digits + 2) {
    return BadEscape{at, size,
                     fmt::format("expected {} hexadecimal digits behind \\{}, found {}", digits, kind, size - 2), ""};
  }
  if (!is_scalar_value(value)) {
    return BadEscape{at, size,
                     fmt::format("expected a Unicode character, found {}, which is none", raw.substr(at, size)), ""};
  }
  append_utf8(out, value);
  at += size;
  return std::nullopt;
}

}  // namespace

std::optional<BadEscape> decode_literal_text(std::string_view raw, bool quoted, std::string& into) {
  std::size_t at = 0;
  while (true) {
    const std::size_t special = std::min(raw.find_first_of(quoted ? "\\$%" : "$%", at), raw.size());
    into.append(raw, at, special - at);
    at = special;
    if (at == raw.size()) return std::nullopt;
    const char c = raw[at];
    if (c == '\\') {
      if (auto bad = decode_escape(raw, at, into)) return bad;
      continue;
    }
    const std::size_t end = std::min(raw.find_first_not_of(c, at), raw.size());
    const bool escaped = end - at > 1 && end < raw.size() && raw[end] == '{';
    into.append(end - at - (escaped ? 1 : 0), c);
    at = end;
  }
}

}  // namespace modlock::hcl
