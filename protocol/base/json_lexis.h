#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace modlock {

// What every reader of JSON takes apart in the same way (RFC 8259). Each reports faults in its own words.

// The escape sequence that a text starts with: `\n`, `\u00e9`, `\ud83d\ude00`.
struct JsonEscape {
  enum class Fault { none, letter, digit, surrogate };
  Fault fault = Fault::none;
  std::size_t size = 0;    // of a wrong letter or digit: the bytes before it
  char32_t character = 0;  // U+FFFD for half of a surrogate pair
};
JsonEscape read_json_escape(std::string_view text);

// Appends the escape sequence of an ASCII character: `\n`, `\"`, `\u003c`.
void append_json_escape(std::string& out, char character);

// The number that a text starts with.
struct JsonNumber {
  enum class Part { none, integer, fraction, exponent };
  Part lacks_digit = Part::none;
  std::size_t size = 0;  // of a part without a digit: the bytes before its place
};
JsonNumber read_json_number(std::string_view text);

}  // namespace modlock
