#include "protocol/base/utf8.h"

#include <utf8proc.h>

namespace modlock {

std::size_t utf8_sequence_length(std::string_view text) {
  if (!text.empty() && static_cast<unsigned char>(text[0]) < 0x80) {
    return 1;  // a call of the library would take longer
  }
  utf8proc_int32_t code_point = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  return length < 0 ? 0 : static_cast<std::size_t>(length);
}

void append_utf8(std::string& out, char32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
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
  while (const std::size_t size = utf8_sequence_length(text)) {
    text.remove_prefix(size);
  }
  return text.empty();
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
