#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace modlock {

// The length of the well-formed UTF-8 sequence that starts `text` (Unicode 15, table 3-7), 0 where there is none:
// overlong forms, surrogates, code points over U+10FFFF, stray and missing continuation bytes.
std::size_t utf8_sequence_length(std::string_view text);

// Appends a code point (not a surrogate) as UTF-8.
void append_utf8(std::string& out, char32_t code_point);

// The text itself where it is valid UTF-8, else with U+FFFD for each byte that belongs to no sequence.
std::string to_valid_utf8(std::string text);

}  // namespace modlock
