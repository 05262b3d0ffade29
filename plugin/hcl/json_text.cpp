#include <fmt/format.h>

#include <string>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_reader.h"

namespace modlock::hcl {
namespace {

constexpr std::size_t kUnicodeDigits = 4;

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '"':
    case '\\':
    case '/':
      return c;
    default:
      return '\0';
  }
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

std::string escape_for(char control) {
  switch (control) {
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{:04x}", static_cast<unsigned>(control));
  }
}

bool is_high_surrogate(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low_surrogate(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

tl::unexpected<Error> JsonReader::fail_within(std::size_t at, std::size_t size, std::string message,
                                              std::string hint) const {
  const Position start = advance(here_, text_.substr(here_.byte, at - here_.byte));
  return fail_at({start, advance(start, text_.substr(at, size))}, std::move(message), std::move(hint));
}

Result<Expression> JsonReader::read_string() {
  JsonString string;
  const std::size_t start = here_.byte + 1;
  std::size_t at = start;
  const auto line_ends_at = [&](std::size_t place) {
    return place == text_.size() || text_[place] == '\n' || text_[place] == '\r';
  };
  while (true) {
    std::size_t end = at;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\\' && !is_control(text_[end])) ++end;
    string.text.append(text_.substr(at, end - at));
    at = end;
    if (line_ends_at(at) || (text_[at] == '\\' && line_ends_at(at + 1))) {
      return fail_within(here_.byte, 1, "the string that starts here has no closing quotation mark on its line",
                         "close the string, or write a line break as \\n");
    }
    if (text_[at] == '"') break;
    if (is_control(text_[at])) {
      return fail_within(
          at, 1, fmt::format("expected text, found the control character {}", quoted_for_message(text_.substr(at, 1))),
          fmt::format("write it as {}", escape_for(text_[at])));
    }
    if (auto done = read_escape(at, string); !done) return fail(std::move(done).error());
    string.shifts.emplace_back(string.text.size(), at - start - string.text.size());
  }
  return Expression{take(at + 1 - here_.byte), std::move(string)};
}

// Decodes the escape at `at`, a backslash and something, and goes behind it.
Result<void> JsonReader::read_escape(std::size_t& at, JsonString& into) const {
  const char kind = text_[at + 1];
  if (const char simple = simple_escape(kind)) {
    into.text.push_back(simple);
    at += 2;
    return {};
  }
  if (kind == 'u') {
    auto character = read_unicode(at);
    if (!character) return fail(std::move(character).error());
    append_utf8(into.text, *character);
    return {};
  }
  const std::size_t size = is_control(kind) ? 1 : grapheme_end(text_, at + 1) - at;
  return fail_within(at, size,
                     fmt::format("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found {}",
                                 quoted_for_message(text_.substr(at, size))),
                     "write \\\\ for one backslash");
}

Result<char32_t> JsonReader::read_unicode(std::size_t& at) const {
  const auto unit_at = [&](std::size_t digits, char32_t& unit) {
    std::size_t count = 0;
    for (; count < kUnicodeDigits && digits + count < text_.size(); ++count) {
      const char c = text_[digits + count];
      const bool digit = c >= '0' && c <= '9';
      const char lower = static_cast<char>(c | 0x20);
      if (!digit && (lower < 'a' || lower > 'f')) break;
      unit = (unit << 4) | static_cast<char32_t>(digit ? c - '0' : lower - 'a' + 10);
    }
    return count;
  };
  char32_t first = 0;
  const std::size_t count = unit_at(at + 2, first);
  if (count < kUnicodeDigits) {
    return fail_within(at, count + 2, fmt::format("expected 4 hexadecimal digits behind \\u, found {}", count));
  }
  std::size_t end = at + 2 + kUnicodeDigits;
  char32_t second = 0;
  if (is_high_surrogate(first) && text_.substr(end, 2) == "\\u" && unit_at(end + 2, second) == kUnicodeDigits &&
      is_low_surrogate(second)) {
    end += 2 + kUnicodeDigits;
    first = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }
  if (!is_scalar_value(first)) {
    return fail_within(at, end - at,
                       fmt::format("expected a character, found {}, which is half of one", text_.substr(at, end - at)),
                       "characters beyond U+FFFF take two escapes: \\ud83d\\ude00");
  }
  at = end;
  return first;
}

}  // namespace modlock::hcl
