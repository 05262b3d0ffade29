#include "backends/http/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/ascii.h"

namespace modlock::http {

bool same_name(std::string_view left, std::string_view right) {
  return ascii::equals_ignoring_case(left, right);
}

std::string media_type(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return ascii::lower(type.substr(0, type.find_last_not_of(" \t") + 1));
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

std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? fmt::format("{} s", count / 1000) : fmt::format("{} ms", count);
}

}  // namespace modlock::http
