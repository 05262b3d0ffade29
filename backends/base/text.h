#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace modlock {

// Returns a text without the blanks around it.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\n\v\f\r") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// Returns what each `end` ends, without it; the last part may lack it. No part for an empty text.
inline std::vector<std::string> lines_of(std::string_view text, char end = '\n') {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find(end)));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

// Returns a text in quotes, with a backslash before each quote and backslash in it.
inline std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return quoted + '"';
}

}  // namespace modlock
