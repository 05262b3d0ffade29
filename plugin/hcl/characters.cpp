#include "plugin/hcl/characters.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "protocol/base/utf8.h"

namespace modlock::hcl {
namespace {

constexpr std::size_t kMessageBytes = 40;

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Whether an ASCII byte continues an identifier.
constexpr std::array<bool, 0x80> kContinues = [] {
  std::array<bool, 0x80> continues{};
  for (std::size_t c = '0'; c <= '9'; ++c) continues[c] = true;
  for (std::size_t c = 'a'; c <= 'z'; ++c) continues[c] = continues[c - 'a' + 'A'] = true;
  continues['_'] = continues['-'] = true;
  return continues;
}();

bool starts_plain_identifier(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > '9' && byte < 0x80 && kContinues[byte];
}

bool is_identifier_start(char32_t c) {
  if (c < 0x80) return starts_plain_identifier(static_cast<char>(c));
  // The characters that Unicode adds to ID_Start, or removes from it, in addition to the categories.
  constexpr std::array<char32_t, 6> kOtherStart = {0x1885, 0x1886, 0x2118, 0x212E, 0x309B, 0x309C};
  if (std::find(kOtherStart.begin(), kOtherStart.end(), c) != kOtherStart.end()) return true;
  if (c == 0x2E2F) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
      return true;
    default:
      return false;
  }
}

bool is_identifier_continue(char32_t c) {
  if (c < 0x80) return kContinues[c];
  if (is_identifier_start(c)) return true;
  if (c == 0x00B7 || c == 0x0387 || c == 0x19DA || (c >= 0x1369 && c <= 0x1371)) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

// Counts the characters at `at` that take one byte and one column each. Two ASCII characters never form a cluster, but
// the last one may form one with the character after it.
std::size_t plain_size(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && byte_at(text, end) >= 0x20 && byte_at(text, end) < 0x80) ++end;
  return end - at - (end > at && end < text.size() && byte_at(text, end) >= 0x80 ? 1 : 0);
}

// Whether all eight bytes are ASCII and none is NUL.
bool is_plain_ascii(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes * 0x80;
  return ((bytes | (bytes - kOnes)) & kHigh) == 0;
}

bool is_blank(char32_t c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Escapes one character of a quoted string; `next` is the byte after it.
std::string escape(std::string_view character, utf8proc_int32_t code, char next) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '$':
    case '%':
      return std::string(next == '{' ? 2 : 1, static_cast<char>(code));
    default:
      break;
  }
  if (is_printable(static_cast<char32_t>(code))) {
    return std::string(character);
  }
  return code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
}

}  // namespace

std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t at) {
  const std::size_t size = utf8_sequence_length(text.substr(at));
  if (size == 0) return std::nullopt;
  char32_t value = byte_at(text, at) & (size == 1 ? 0x7FU : 0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) value = (value << 6) | (byte_at(text, at + i) & 0x3FU);
  return CodePoint{value, size};
}

std::optional<std::size_t> find_bad_byte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t bytes = 0;
    if (text.size() - at >= sizeof bytes) {
      std::memcpy(&bytes, text.data() + at, sizeof bytes);
      if (is_plain_ascii(bytes)) {
        at += sizeof bytes;
        continue;
      }
    }
    const auto point = decode_utf8(text, at);
    if (!point || point->value == 0) return at;
    at += point->size;
  }
  return std::nullopt;
}

bool is_scalar_value(char32_t value) {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

std::size_t identifier_size(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size()) {
    if (end > at && byte_at(text, end) < 0x80) {
      if (!kContinues[byte_at(text, end)]) break;
      ++end;
      continue;
    }
    const auto point = decode_utf8(text, end);
    if (!point) break;
    if (end == at ? !is_identifier_start(point->value) : !is_identifier_continue(point->value)) break;
    end += point->size;
  }
  return end - at;
}

std::size_t plain_identifier_size(std::string_view text) {
  if (text.empty() || !starts_plain_identifier(text[0])) return 0;
  std::size_t end = 1;
  while (end < text.size() && byte_at(text, end) < 0x80 && kContinues[byte_at(text, end)]) ++end;
  return end < text.size() && byte_at(text, end) >= 0x80 ? 0 : end;
}

std::size_t blank_size(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const auto point = decode_utf8(text, at);
  return point && is_blank(point->value) ? point->size : 0;
}

std::string_view trim_left(std::string_view text) {
  while (const std::size_t size = blank_size(text, 0)) text.remove_prefix(size);
  return text;
}

std::string_view trim_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (byte_at(text, last) & 0xC0) == 0x80) --last;
    if (blank_size(text, last) == 0) break;
    text = text.substr(0, last);
  }
  return text;
}

std::size_t grapheme_end(std::string_view text, std::size_t at) {
  auto point = decode_utf8(text, at);
  if (!point) return at + 1;
  std::size_t end = at + point->size;
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    const auto next = decode_utf8(text, end);
    if (!next) break;
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(point->value),
                                         static_cast<utf8proc_int32_t>(next->value), &state)) {
      break;
    }
    end += next->size;
    point = next;
  }
  return end;
}

Position advance(Position from, std::string_view text) {
  from.byte += static_cast<std::uint32_t>(text.size());
  std::size_t at = 0;
  while (true) {
    const std::size_t plain = plain_size(text, at);
    from.column += static_cast<std::uint32_t>(plain);
    at += plain;
    if (at == text.size()) return from;
    if (text[at] == '\n' || text.substr(at, 2) == "\r\n") {
      at += text[at] == '\n' ? 1U : 2U;
      ++from.line;
      from.column = 1;
    } else {
      at = grapheme_end(text, at);
      ++from.column;
    }
  }
}

std::string normalize_nfc(std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) return std::string(text);
  utf8proc_uint8_t* mapped = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(mapped, &std::free);
  if (size < 0) return std::string(text);
  return std::string(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
}

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

std::string quoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    utf8proc_int32_t code = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
    const std::size_t used = size > 0 ? static_cast<std::size_t>(size) : 1;
    const char next = used < text.size() ? text[used] : '\0';
    result += size > 0 ? escape(text.substr(0, used), code, next) : "\xEF\xBF\xBD";
    text.remove_prefix(used);
  }
  return result + "\"";
}

std::string quoted_for_message(std::string_view text) {
  if (text.empty()) return "\"\"";
  const auto first = decode_utf8(text, 0);
  if (first && first->size == text.size() && (first->value < 0x20 || first->value >= 0x7F)) {
    const bool visible = first->value >= 0xA1 && blank_size(text, 0) == 0 && first->value != 0xFEFF;
    const auto number = static_cast<unsigned>(first->value);
    return visible ? fmt::format("\"{}\" (U+{:04X})", text, number) : fmt::format("U+{:04X}", number);
  }
  if (text.size() <= kMessageBytes) return fmt::format("\"{}\"", text);
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = grapheme_end(text, end);
    if (next > kMessageBytes) break;
    end = next;
  }
  return fmt::format("\"{}…\"", text.substr(0, end));
}

}  // namespace modlock::hcl
