#include "plugin/lock/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace modlock {
namespace {

using Index = std::ptrdiff_t;
using Lines = std::vector<std::string_view>;

// The lines that occur on both sides, as numbers: equal numbers are equal lines. `origin` has their original positions.
struct Sequence {
  std::vector<int> symbols;
  std::vector<std::size_t> origin;
};

// Lines that only one side has are changed in any case; leaving them out makes the search short.
Sequence common_lines(const Lines& lines, const Lines& other, std::unordered_map<std::string_view, int>& numbers) {
  std::unordered_map<std::string_view, bool> known;
  for (const std::string_view line : other) {
    known.emplace(line, true);
  }
  Sequence result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (known.find(lines[i]) != known.end()) {
      result.symbols.push_back(numbers.emplace(lines[i], static_cast<int>(numbers.size())).first->second);
      result.origin.push_back(i);
    }
  }
  return result;
}

// One run over two sequences; finds which of their elements belong to a longest common subsequence.
class Comparison {
 public:
  Comparison(const std::vector<int>& a, const std::vector<int>& b)
      : a_(a),
        b_(b),
        forward_(a.size() + b.size() + 3),
        backward_(a.size() + b.size() + 3),
        offset_(static_cast<Index>(b.size()) + 1) {
    compare({0, static_cast<Index>(a.size()), 0, static_cast<Index>(b.size())});
  }

  // Pairs of equal elements, ascending on both sides.
  const std::vector<std::pair<std::size_t, std::size_t>>& matches() const { return matches_; }

 private:
  struct Box {
    Index a_start, a_end, b_start, b_end;
  };
  struct Point {
    Index a, b;
  };

  bool equal(Index i, Index j) const { return a_[static_cast<std::size_t>(i)] == b_[static_cast<std::size_t>(j)]; }
  Index& forward(Index diagonal) { return forward_[static_cast<std::size_t>(diagonal + offset_)]; }
  Index& backward(Index diagonal) { return backward_[static_cast<std::size_t>(diagonal + offset_)]; }

  void compare(Box box) {
    while (box.a_start < box.a_end && box.b_start < box.b_end && equal(box.a_start, box.b_start)) {
      matches_.emplace_back(box.a_start++, box.b_start++);
    }
    Index tail = 0;
    while (box.a_start < box.a_end && box.b_start < box.b_end && equal(box.a_end - 1, box.b_end - 1)) {
      --box.a_end, --box.b_end, ++tail;
    }
    if (box.a_start < box.a_end && box.b_start < box.b_end) {
      const Point middle = find_middle(box);
      compare({box.a_start, middle.a, box.b_start, middle.b});
      compare({middle.a, box.a_end, middle.b, box.b_end});
    }
    for (Index i = 0; i < tail; ++i) {
      matches_.emplace_back(box.a_end + i, box.b_end + i);
    }
  }

  // A point on a shortest path through a box whose corners do not match, searched from both ends at once.
  Point find_middle(const Box& box) {
    const Index lowest = box.a_start - box.b_end;
    const Index highest = box.a_end - box.b_start;
    const Index from = box.a_start - box.b_start;
    const Index to = box.a_end - box.b_end;
    const bool meets_going_forward = ((from - to) & 1) != 0;
    forward(from) = box.a_start;
    backward(to) = box.a_end;
    for (Index cost = 1;; ++cost) {
      for (Index d = from + cost; d >= from - cost; d -= 2) {
        if (d < lowest || d > highest) {
          continue;
        }
        const Index x = step_forward(box, d, from, cost);
        forward(d) = x;
        if (meets_going_forward && d > to - cost && d < to + cost && backward(d) <= x) {
          return {x, x - d};
        }
      }
      for (Index d = to + cost; d >= to - cost; d -= 2) {
        if (d < lowest || d > highest) {
          continue;
        }
        const Index x = step_backward(box, d, to, cost);
        backward(d) = x;
        if (!meets_going_forward && d >= from - cost && d <= from + cost && x <= forward(d)) {
          return {x, x - d};
        }
      }
    }
  }

  // How far diagonal `d` reaches with one more change, including the equal elements after it.
  Index step_forward(const Box& box, Index d, Index from, Index cost) {
    const Index lowest = std::max(from - cost + 1, box.a_start - box.b_end);
    const Index highest = std::min(from + cost - 1, box.a_end - box.b_start);
    const Index below = d - 1 >= lowest ? forward(d - 1) : -1;
    const Index above = d + 1 <= highest ? forward(d + 1) : -1;
    Index x = below < above ? above : below + 1;
    while (x < box.a_end && x - d < box.b_end && equal(x, x - d)) {
      ++x;
    }
    return x;
  }

  Index step_backward(const Box& box, Index d, Index to, Index cost) {
    constexpr Index kUnreached = PTRDIFF_MAX;
    const Index lowest = std::max(to - cost + 1, box.a_start - box.b_end);
    const Index highest = std::min(to + cost - 1, box.a_end - box.b_start);
    const Index below = d - 1 >= lowest ? backward(d - 1) : kUnreached;
    const Index above = d + 1 <= highest ? backward(d + 1) : kUnreached;
    Index x = below < above ? below : above - 1;
    while (x > box.a_start && x - d > box.b_start && equal(x - 1, x - d - 1)) {
      --x;
    }
    return x;
  }

  const std::vector<int>& a_;
  const std::vector<int>& b_;
  std::vector<Index> forward_;   // by diagonal: the furthest element of `a` reached from the start
  std::vector<Index> backward_;  // by diagonal: the furthest element of `a` reached from the end
  Index offset_;
  std::vector<std::pair<std::size_t, std::size_t>> matches_;
};

std::vector<LineChange> gaps(const std::vector<std::pair<std::size_t, std::size_t>>& matches, const Sequence& a,
                             const Sequence& b, std::size_t before_size, std::size_t after_size) {
  std::vector<LineChange> changes;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto add = [&](std::size_t before_end, std::size_t after_end) {
    if (i < before_end || j < after_end) {
      changes.push_back({i, before_end, j, after_end});
    }
    i = before_end + 1;
    j = after_end + 1;
  };
  for (const auto& [in_a, in_b] : matches) {
    add(a.origin[in_a], b.origin[in_b]);
  }
  add(before_size, after_size);
  return changes;
}

bool is_pure(const LineChange& change) {
  return change.before_start == change.before_end || change.after_start == change.after_end;
}

// Whether a pure change may move one line: the line that it leaves equals the line that it takes.
bool can_move_up(const LineChange& c, const Lines& before, const Lines& after) {
  if (c.before_start == 0 || c.after_start == 0) {
    return false;
  }
  return c.before_start == c.before_end ? after[c.after_start - 1] == after[c.after_end - 1]
                                        : before[c.before_start - 1] == before[c.before_end - 1];
}

bool can_move_down(const LineChange& c, const Lines& before, const Lines& after) {
  if (c.before_end == before.size() || c.after_end == after.size()) {
    return false;
  }
  return c.before_start == c.before_end ? after[c.after_start] == after[c.after_end]
                                        : before[c.before_start] == before[c.before_end];
}

bool touches(const LineChange& upper, const LineChange& lower) {
  return upper.before_end == lower.before_start && upper.after_end == lower.after_start;
}

void join(LineChange& upper, const LineChange& lower) {
  upper.before_end = lower.before_end;
  upper.after_end = lower.after_end;
}

// Moves changes that have several possible positions: up if that meets an earlier change, else down as far as possible.
std::vector<LineChange> settle(const std::vector<LineChange>& changes, const Lines& before, const Lines& after) {
  std::vector<LineChange> settled;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    LineChange now = changes[i];
    LineChange up = now;
    while (is_pure(up) && can_move_up(up, before, after) && (settled.empty() || !touches(settled.back(), up))) {
      --up.before_start, --up.before_end, --up.after_start, --up.after_end;
    }
    if (!settled.empty() && touches(settled.back(), up)) {
      now = settled.back();
      join(now, up);
      settled.pop_back();
    }
    while (is_pure(now) && can_move_down(now, before, after)) {
      ++now.before_start, ++now.before_end, ++now.after_start, ++now.after_end;
      if (i + 1 < changes.size() && touches(now, changes[i + 1])) {
        join(now, changes[++i]);
      }
    }
    settled.push_back(now);
  }
  return settled;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

std::vector<LineChange> diff_lines(const Lines& before, const Lines& after) {
  std::unordered_map<std::string_view, int> numbers;
  const Sequence a = common_lines(before, after, numbers);
  const Sequence b = common_lines(after, before, numbers);
  const Comparison comparison(a.symbols, b.symbols);
  return settle(gaps(comparison.matches(), a, b, before.size(), after.size()), before, after);
}

}  // namespace modlock
