#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/error.h"

// What HCL knows of Unicode: identifiers, blanks, and columns that are grapheme clusters.
namespace modlock::hcl {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  // bytes it takes
};

// The code point that starts at `at` (`at < text.size()`), or nullopt where the bytes are not well-formed UTF-8:
// overlong forms, surrogates and values beyond U+10FFFF included.
std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t at);

// Where the first byte stands that is not part of well-formed UTF-8, or that is NUL.
std::optional<std::size_t> find_bad_byte(std::string_view text);

// Whether it is a code point and no surrogate.
bool is_scalar_value(char32_t value);

// How many bytes of an identifier start at `at`: 0 where none does. Identifiers are ID_Start or "_", then ID_Continue
// or "-".
std::size_t identifier_size(std::string_view text, std::size_t at);

// The same of one that `text` starts with, but 0 too where it is not all ASCII.
std::size_t plain_identifier_size(std::string_view text);

// How many bytes the blank character at `at` takes, 0 where there is none. Any Unicode white space is one, line ends
// included.
std::size_t blank_size(std::string_view text, std::size_t at);
std::string_view trim_left(std::string_view text);
std::string_view trim_right(std::string_view text);

// Where the grapheme cluster ends that starts at `at`. `text` is well-formed UTF-8.
std::size_t grapheme_end(std::string_view text, std::size_t at);

// The position after `text`, which starts at `from`.
Position advance(Position from, std::string_view text);

// Unicode normalisation form C, which is how HCL compares strings.
std::string normalize_nfc(std::string_view text);

// What Go's unicode.IsPrint accepts: letters, marks, numbers, punctuation, symbols, and the plain space.
bool is_printable(char32_t character);

// For messages: `"x"`, or `"“" (U+201C)` for what is not plain ASCII.
std::string quoted_for_message(std::string_view text);

}  // namespace modlock::hcl
