#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Classes and case of ASCII characters in every locale. A byte above 0x7f belongs to no class and has no case.
namespace modlock::ascii {

constexpr bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_alpha(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_alnum(char c) {
  return is_alpha(c) || is_digit(c);
}
constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');  // \t \n \v \f \r
}

// Returns the value of a hexadecimal digit in either case; -1 for any other character.
constexpr int hex_value(char c) {
  if (is_digit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
constexpr bool is_hex(char c) {
  return hex_value(c) >= 0;
}
constexpr bool is_lower_hex(char c) {
  return is_hex(c) && !is_upper(c);
}

constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char to_upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

inline std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

inline bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

}  // namespace modlock::ascii
