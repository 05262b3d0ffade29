#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plugin/lock/lock_file.h"

namespace modlock {

// Reads the common ancestor of a merge. That of a criss-cross merge may have conflict markers itself: the entries on
// which its two parts agree are then the ancestor. nullopt: the parts cannot be read, and the ancestor is unknown.
// Errors: those of parse_lock() for a text without a conflict.
Result<std::optional<LockFile>> parse_ancestor(std::string_view text, const std::string& path,
                                               std::string_view default_host = kOpenTofuRegistry);

// Makes the sides of a merge comparable entry by entry:
// - A client drops all module blocks when it writes the file. A side that has the file but none of the blocks of `base`
//   gets them back.
// - If one side renamed a call (an entry of `base` is gone, and a new one has the same source, version and hashes), and
//   another side changed the entry or one below it, both `base` and the other sides get the new key.
// A side that has to change is written and read again; all other sides keep their text. `default_host` is that of
// parse_lock().
void align_sides(LockFile& base, std::span<LockFile> sides, std::string_view default_host = kOpenTofuRegistry);

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
