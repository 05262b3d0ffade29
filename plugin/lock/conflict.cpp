#include "plugin/lock/conflict.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plugin/lock/line_diff.h"

namespace modlock {
namespace {

constexpr std::size_t kMarkerSize = 7;  // git's; conflict-marker-size and nested merges make it larger

// The length of the marker that a line is, 0 if it is none. A label follows after a space.
std::size_t marker_size(std::string_view line, char character) {
  const std::size_t size = std::min(line.find_first_not_of(character), line.size());
  const std::string_view rest = line.substr(size);
  const bool ends = rest.empty() || rest.front() == ' ' || rest.front() == '\n' || rest.front() == '\r';
  return size >= kMarkerSize && ends ? size : 0;
}

enum class Part { common, ours, base, theirs };

}  // namespace

std::optional<ConflictSides> split_conflict(std::string_view text) {
  ConflictSides sides;
  std::string base;
  bool all_have_base = true;
  bool any = false;
  bool has_base = false;
  std::size_t size = 0;  // of the markers of the conflict being read
  Part part = Part::common;
  for (const std::string_view line : split_lines(text)) {
    if (const std::size_t start = marker_size(line, '<'); part == Part::common && start != 0) {
      size = start;
      part = Part::ours;
      any = true;
      has_base = false;
    } else if (part == Part::ours && marker_size(line, '|') == size) {
      part = Part::base;
      has_base = true;
    } else if ((part == Part::ours || part == Part::base) && marker_size(line, '=') == size) {
      part = Part::theirs;
    } else if (part == Part::theirs && marker_size(line, '>') == size) {
      part = Part::common;
      all_have_base = all_have_base && has_base;
    } else {
      for (const auto& [side, target] :
           {std::pair{Part::ours, &sides.ours}, std::pair{Part::base, &base}, std::pair{Part::theirs, &sides.theirs}}) {
        if (part == Part::common || part == side) {
          *target += line;
        }
      }
    }
  }
  if (!any || part != Part::common) {
    return std::nullopt;
  }
  if (all_have_base) {
    sides.base = std::move(base);
  }
  return sides;
}

}  // namespace modlock
