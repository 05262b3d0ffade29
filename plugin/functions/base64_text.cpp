#include "plugin/functions/base64_text.h"

#include <cstdint>

namespace modlock::eval {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = (bits << 8U) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= group.size() ? kAlphabet[(bits >> (18U - 6U * i)) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char character : text) {
    if (character == '\n' || character == '\r') {
      continue;
    }
    const std::size_t value = kAlphabet.find(character);
    const bool is_padding = character == '=';
    if (is_padding ? digits < 2 : value == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    padding += is_padding ? 1 : 0;
    group = (group << 6U) | (is_padding ? 0U : static_cast<std::uint32_t>(value));
    if (++digits < 4) {
      continue;
    }
    for (int i = 0; i < 3 - padding; ++i) {
      bytes += static_cast<char>((group >> (16U - 8U * static_cast<unsigned>(i))) & 0xFFU);
    }
    group = 0;
    // Behind padding a further group never starts: neither a digit nor a "=" is taken then.
    digits = 0;
  }
  return digits == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace modlock::eval
