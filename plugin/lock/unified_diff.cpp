#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "plugin/lock/edit.h"
#include "plugin/lock/line_diff.h"

namespace modlock {
namespace {

constexpr std::size_t kContext = 3;

// "12,3"; one line stands without a count, no line names the line before.
std::string line_span(std::size_t start, std::size_t end) {
  if (end - start == 1) {
    return std::to_string(end);
  }
  return fmt::format("{},{}", start == end ? start : start + 1, end - start);
}

void print_lines(std::string& out, char mark, std::span<const std::string_view> lines) {
  for (const std::string_view line : lines) {
    out += mark;
    out += line;
    if (line.back() != '\n') {
      out += "\n\\ No newline at end of file\n";
    }
  }
}

void print_hunk(std::string& out, std::span<const LineChange> changes, std::span<const std::string_view> before,
                std::span<const std::string_view> after) {
  const LineChange& first = changes.front();
  const LineChange& last = changes.back();
  const std::size_t above = std::min(kContext, first.before_start);
  const std::size_t below = std::min(kContext, before.size() - last.before_end);
  out += fmt::format("@@ -{} +{} @@\n", line_span(first.before_start - above, last.before_end + below),
                     line_span(first.after_start - above, last.after_end + below));
  std::size_t line = first.before_start - above;
  for (const LineChange& change : changes) {
    print_lines(out, ' ', before.subspan(line, change.before_start - line));
    print_lines(out, '-', before.subspan(change.before_start, change.before_end - change.before_start));
    print_lines(out, '+', after.subspan(change.after_start, change.after_end - change.after_start));
    line = change.before_end;
  }
  print_lines(out, ' ', before.subspan(line, below));
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = split_lines(before);
  const std::vector<std::string_view> new_lines = split_lines(after);
  const std::vector<LineChange> changes = diff_lines(old_lines, new_lines);
  if (changes.empty()) {
    return {};
  }
  std::string out = fmt::format("--- {0}\n+++ {0}\n", path);
  for (std::size_t i = 0; i < changes.size();) {
    std::size_t end = i + 1;
    while (end < changes.size() && changes[end].before_start - changes[end - 1].before_end <= 2 * kContext) {
      ++end;
    }
    print_hunk(out, std::span(changes).subspan(i, end - i), old_lines, new_lines);
    i = end;
  }
  return out;
}

}  // namespace modlock
