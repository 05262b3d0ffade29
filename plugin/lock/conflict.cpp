#include "plugin/lock/conflict.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "backends/git/line_diff.h"

namespace modlock {
namespace {

constexpr std::size_t kMarkerSize = 7;  // git's default; conflict-marker-size and nested merges make it larger

// The length of the marker on a line, or 0 if it is not a marker. A label follows after a space.
std::size_t marker_size(std::string_view line, char character) {
  const std::size_t size = std::min(line.find_first_not_of(character), line.size());
  const std::string_view rest = line.substr(size);
  const bool ends = rest.empty() || rest.front() == ' ' || rest.front() == '\n' || rest.front() == '\r';
  return size >= kMarkerSize && ends ? size : 0;
}

enum class Part { common, ours, base, theirs };

struct SideLine {
  std::string_view text;
  bool is_common = false;  // outside of conflicts
};

bool opens_block(std::string_view line) {
  return (line.starts_with("module ") || line.starts_with("provider ")) && line.find('{') != std::string_view::npos;
}

// The text of one side. If one side adds a block and the other side has a block of that name in a conflict next to it,
// git takes over the added block without a conflict. So if a name is in conflict, the block outside of the conflict
// belongs to the other side.
std::string side_text(const std::vector<SideLine>& lines) {
  std::set<std::string_view> contested;
  for (const SideLine& line : lines) {
    if (!line.is_common && opens_block(line.text)) {
      contested.insert(line.text);
    }
  }
  std::string text;
  bool is_left_out = false;
  for (const SideLine& line : lines) {
    is_left_out = is_left_out || (line.is_common && contested.count(line.text) != 0);
    text += is_left_out ? std::string_view() : line.text;
    is_left_out = is_left_out && !line.text.starts_with('}');
  }
  return text;
}

}  // namespace

bool has_marker(std::string_view text) {
  const std::vector<std::string_view> lines = git::split_lines(text);
  return std::ranges::any_of(lines, [](std::string_view line) {
    return marker_size(line, '<') != 0 || marker_size(line, '|') != 0 || marker_size(line, '=') != 0 ||
           marker_size(line, '>') != 0;
  });
}

std::optional<ConflictSides> split_conflict(std::string_view text) {
  std::vector<SideLine> ours;
  std::vector<SideLine> base;
  std::vector<SideLine> theirs;
  bool all_have_base = true;
  bool any = false;
  bool has_base = false;
  std::size_t size = 0;  // of the markers of the conflict being read
  Part part = Part::common;
  for (const std::string_view line : git::split_lines(text)) {
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
           {std::pair{Part::ours, &ours}, std::pair{Part::base, &base}, std::pair{Part::theirs, &theirs}}) {
        if (part == Part::common || part == side) {
          target->push_back({line, part == Part::common});
        }
      }
    }
  }
  if (!any || part != Part::common) {
    return std::nullopt;
  }
  return ConflictSides{.base = all_have_base ? std::optional(side_text(base)) : std::nullopt,
                       .ours = side_text(ours),
                       .theirs = side_text(theirs)};
}

}  // namespace modlock
