#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock {

// The two sides of a text with git's conflict markers, each as a whole text. `base` is the common ancestor; it is
// absent if a conflict does not have it (git writes it with merge.conflictStyle diff3 and zdiff3).
struct ConflictSides {
  std::optional<std::string> base;
  std::string ours;
  std::string theirs;
};

// Returns the sides of a text with conflict markers of 7 or more characters. Returns nullopt if there is no conflict,
// or if one lacks a marker.
std::optional<ConflictSides> split_conflict(std::string_view text);

// Whether a line is a conflict marker, also one without its counterparts.
bool has_marker(std::string_view text);

}  // namespace modlock
