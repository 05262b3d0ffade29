#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/error.h"

// HCL's view of Unicode: identifiers, blanks, and columns that count grapheme clusters.
namespace modlock::hcl {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  // bytes it takes
};

// Returns the code point that starts at `at` (`at < text.size()`), or nullopt if the bytes are not well-formed UTF-8
// (overlong forms, surrogates and values beyond U+10FFFF included).
std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t at);

// Returns the position of the first byte that is NUL or not part of well-formed UTF-8.
std::optional<std::size_t> find_bad_byte(std::string_view text);

// Whether it is a code point but not a surrogate.
bool is_scalar_value(char32_t value);

// Returns the size in bytes of the identifier that starts at `at`, or 0 if there is none. Identifiers are ID_Start or
// "_", then ID_Continue or "-".
std::size_t identifier_size(std::string_view text, std::size_t at);

// Returns the same for the identifier that `text` starts with, but 0 also if it is not all ASCII.
std::size_t plain_identifier_size(std::string_view text);

// Returns the size in bytes of the blank character at `at`, or 0 if there is none. Every Unicode white space is blank,
// line endings included.
std::size_t blank_size(std::string_view text, std::size_t at);
std::string_view trim_left(std::string_view text);
std::string_view trim_right(std::string_view text);

// Returns the end of the grapheme cluster that starts at `at`. `text` is well-formed UTF-8.
std::size_t grapheme_end(std::string_view text, std::size_t at);

// The position after `text`, which starts at `from`.
Position advance(Position from, std::string_view text);

// Unicode normalization form C, which HCL uses to compare strings.
std::string normalize_nfc(std::string_view text);

// The same as Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and the plain space.
bool is_printable(char32_t character);

// Quotes a string like hclwrite. Bytes that are not UTF-8 become U+FFFD.
std::string quoted(std::string_view text);

// For messages: `"x"`, or `"“" (U+201C)` if it is not plain ASCII.
std::string quoted_for_message(std::string_view text);

}  // namespace modlock::hcl
