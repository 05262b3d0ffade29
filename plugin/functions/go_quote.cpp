#include "plugin/functions/go_quote.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include "plugin/hcl/characters.h"

namespace modlock::eval {
namespace {

bool is_printable(char32_t character) {
  if (character < 0x80) {
    return character >= ' ' && character != 0x7F;
  }
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

// The letter after the backslash, or 0 where there is no short form.
char short_escape(char32_t character) {
  switch (character) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '"':
    case '\\':
      return static_cast<char>(character);
    default:
      return 0;
  }
}

}  // namespace

std::string go_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto point = hcl::decode_utf8(text, at);
    if (!point) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    const char32_t character = point->value;
    if (const char letter = short_escape(character); letter != 0) {
      quoted += '\\';
      quoted += letter;
    } else if (is_printable(character)) {
      quoted += text.substr(at, point->size);
    } else if (character < 0x80) {
      quoted += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(character));
    } else {
      const auto code = static_cast<std::uint32_t>(character);
      quoted += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
    at += point->size;
  }
  return quoted + '"';
}

}  // namespace modlock::eval
