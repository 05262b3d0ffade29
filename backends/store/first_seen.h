#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/store/store.h"

namespace modlock {

// The id that a source has under a name.
struct Observation {
  std::string_view name;     // Pin::ref, ListedVersion::ref: "refs/tags/v1.2.0", "1.2.0"
  std::string_view id = {};  // empty if only a fetch can determine it (a registry)
};

// Records when an id was first seen under a name of a source. Each package has a file below v2/seen of a store, with a
// line "<seconds since 1970> <id, or -> <name>" for each observation. A moved tag is a new observation. Whatever is
// missing from the file or unreadable in it counts as seen now, so losing the file never makes a version older.
//
// The clock may be wrong. If it was set back by less than kLongestSetback, existing observations keep their times,
// which are then in the future, and new ones get no earlier time than those. If it was set back by more, it was wrong
// before: observations that far in the future are recorded again. If the clock is before kEarliest, it is wrong now:
// nothing is recorded.
class FirstSeen {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr std::chrono::hours kLongestSetback{24 * 30};
  static constexpr Time kEarliest{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  // The store outlives this.
  explicit FirstSeen(const Store& store) : store_(store) {}

  // Records the new observations, and returns when each one was first seen, in whole seconds. It is no error if the
  // store cannot be written or if the run ends: new observations then count as seen now, and do so again next time.
  // Concurrent processes do not lose each other's records.
  std::vector<Time> note(const std::string& package, std::span<const Observation> observations, Time now,
                         const Context& context) const;
  // Returns when the id was first recorded under this name, or under any name if `name` is empty. nullopt: never.
  std::optional<Time> find(const Source& source, std::string_view name, std::string_view id) const;
  // Returns the id that was recorded last under this name and differs from `id`; empty if there is none.
  std::string other_id(const Source& source, std::string_view name, std::string_view id) const;

 private:
  std::filesystem::path file_of(const std::string& package) const;

  const Store& store_;
};

// "2026-11-21T20:05:09Z".
std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace modlock
