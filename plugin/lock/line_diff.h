#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace modlock {

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

// Returns a smallest set of changed lines between two texts, sorted, with at least one common line between two changes
// (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, linear-space variant). Lines inserted or removed
// among equal lines are placed as far down as possible, as in diff(1).
std::vector<LineChange> diff_lines(const std::vector<std::string_view>& before,
                                   const std::vector<std::string_view>& after);

}  // namespace modlock
