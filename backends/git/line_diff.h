#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::git {

// Splits a text into lines, each with its line ending, which the last line may lack. The empty text has no lines.
std::vector<std::string_view> split_lines(std::string_view text);

// Lines [before_start, before_end) are replaced by lines [after_start, after_end); one of the two may be empty.
struct LineChange {
  std::size_t before_start = 0;
  std::size_t before_end = 0;
  std::size_t after_start = 0;
  std::size_t after_end = 0;
  bool operator==(const LineChange&) const = default;
};

// Returns the changed lines between two texts as git does: sorted, with at least one common line between two changes.
// Lines inserted or removed among equal lines are placed as far down as possible.
std::vector<LineChange> diff_lines(std::string_view before, std::string_view after);
// Returns these changes with three lines of context, like `diff -u`, but without the lines that name the files.
std::string unified_hunks(std::string_view before, std::string_view after);

}  // namespace modlock::git
