#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modlock {

// Returns a text without the blanks around it.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\n\v\f\r") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// Removes the first line and its end from a text, and returns the line.
inline std::string_view take_line(std::string_view& text, char end = '\n') {
  const std::string_view line = text.substr(0, text.find(end));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// Returns what each `end` ends, without it; the last part may lack it. No part for an empty text.
inline std::vector<std::string> lines_of(std::string_view text, char end = '\n') {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(take_line(text, end));
  }
  return lines;
}

void replace_all(std::string& text, std::string_view from, std::string_view to);

// Returns a text in quotes, with a backslash before each quote and backslash in it.
inline std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return quoted + '"';
}

// For "did you mean": returns the name that differs in the fewest bytes (Levenshtein distance), the first one of
// several. nullopt if all names differ in more than two bytes.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known);

// did_you_mean() returns nothing for more names than this, so there is no need to collect more.
constexpr std::size_t kMostCompared = 256;

// `did you mean "region"?`, or empty if no name is similar. Always cheap: long names and long lists are not compared.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

// Returns the first of several texts: "1.3.0, 1.2.5 and 12 more".
std::string some_of(const std::vector<std::string>& texts, std::size_t most);

// Returns "1 package", "2 packages"; "2 repositories" if `many` is the plural.
inline std::string counted(std::size_t count, std::string_view what, std::string_view many = {}) {
  return fmt::format("{} {}{}", count, count == 1 || many.empty() ? what : many,
                     count == 1 || !many.empty() ? "" : "s");
}

// Returns "1.5 MiB", or, below 0.1 MiB, "12 KiB": whole ones, rounded up.
inline std::string size_text(std::uint64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / 1048576.0;
  return mebibytes < 0.1 ? fmt::format("{} KiB", (bytes + 1023U) / 1024U) : fmt::format("{:.1f} MiB", mebibytes);
}

}  // namespace modlock
