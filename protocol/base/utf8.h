#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace modlock {

// Returns the length of the well-formed UTF-8 sequence at the start of `text` (Unicode 15, table 3-7), or 0 if there is
// none: overlong forms, surrogates, code points over U+10FFFF, stray or missing continuation bytes.
std::size_t utf8_sequence_length(std::string_view text);

// Appends a code point (not a surrogate) as UTF-8.
void append_utf8(std::string& out, char32_t code_point);

// Returns the text if it is valid UTF-8, else the text with U+FFFD for each byte that is not part of a sequence.
std::string to_valid_utf8(std::string text);

bool is_utf8(std::string_view text);

// Shortens the text to at most `size` bytes and an ellipsis, without splitting a character.
std::string cut_text(std::string text, std::size_t size);

}  // namespace modlock
