#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace modlock {

// The lines of a text, each with its line end; the last one may lack it. No lines: the empty text.
std::vector<std::string_view> split_lines(std::string_view text);

// Lines [before_start, before_end) give way to lines [after_start, after_end); one of the two may be empty.
struct LineChange {
  std::size_t before_start = 0;
  std::size_t before_end = 0;
  std::size_t after_start = 0;
  std::size_t after_end = 0;
  bool operator==(const LineChange&) const = default;
};

// A smallest set of changed lines between two texts, sorted, with at least one common line between two changes
// (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, linear-space variant). What was inserted or
// removed among equal lines lies as far down as it can, as diff(1) shows it.
std::vector<LineChange> diff_lines(const std::vector<std::string_view>& before,
                                   const std::vector<std::string_view>& after);

}  // namespace modlock
