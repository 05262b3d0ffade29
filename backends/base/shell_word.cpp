#include "backends/base/shell_word.h"

#include <algorithm>

#include "backends/base/ascii.h"

namespace modlock {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_./@:+,=-";
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return ascii::is_alnum(c) || kPlain.find(c) != std::string_view::npos;
  });
  if (is_plain) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace modlock
