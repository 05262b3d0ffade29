#include "protocol/base/utf8.h"

namespace modlock {
namespace {

bool is_in(char c, unsigned low, unsigned high) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= low && byte <= high;
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    return 1;
  }
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    low = lead == 0xE0 ? 0xA0 : 0x80;
    high = lead == 0xED ? 0x9F : 0xBF;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    low = lead == 0xF0 ? 0x90 : 0x80;
    high = lead == 0xF4 ? 0x8F : 0xBF;
  }
  if (length == 0 || text.size() < length || !is_in(text[1], low, high)) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_in(text[i], 0x80, 0xBF)) {
      return 0;
    }
  }
  return length;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto tail = [&out, code_point](unsigned shift) {
    out.push_back(static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (code_point >> 6U)));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (code_point >> 12U)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | (code_point >> 18U)));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string to_valid_utf8(std::string text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_sequence_length(std::string_view(text).substr(at));
    if (length == 0) {
      text.replace(at, 1, "\xEF\xBF\xBD");
      at += 3;
    } else {
      at += length;
    }
  }
  return text;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_sequence_length(text);
    if (size == 0) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

std::string cut_text(std::string text, std::size_t size) {
  if (text.size() <= size) {
    return text;
  }
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) {
    --size;
  }
  return text.substr(0, size) + "…";
}

}  // namespace modlock
