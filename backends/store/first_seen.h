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

// What a source gives under a name.
struct Observation {
  std::string name;     // Pin::ref, ListedVersion::ref: "refs/tags/v1.2.0", "1.2.0"
  std::string id = {};  // empty where only a fetch tells (a registry)
};

// When sources were first seen to give what they give: a file per package below v2/seen of a store, in it a line
// "<seconds since 1970> <id, or -> <name>" for each sighting. A tag that is moved is a new sighting. What is not in the
// file, or cannot be read there, counts as seen now, so that a lost file makes nothing old.
//
// The clock may be wrong. Where it was set back by less than kLongestSetback, what was noted keeps its time, which then
// lies in the future, and new things are noted no earlier than that. Where it was set back by more, it was wrong
// before: what lies so far ahead is noted anew. A clock that stands before kEarliest is wrong now: nothing is noted.
class FirstSeen {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr std::chrono::hours kLongestSetback{24 * 30};
  static constexpr Time kEarliest{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  // The store outlives this.
  explicit FirstSeen(const Store& store) : store_(store) {}

  // Notes what is new among them, and returns when each was first seen, to the second. A store that cannot be written
  // is no error, nor is the end of the run: what is new is then seen now, and will be again. Processes that note at the
  // same time lose nothing of each other.
  std::vector<Time> note(const Source& source, std::span<const Observation> observations, Time now,
                         const Context& context) const;
  // When this was first noted; with an empty name under whatever name. nullopt: never.
  std::optional<Time> find(const Source& source, std::string_view name, std::string_view id) const;
  // Returns the id that was noted last under this name and is not `id`; empty if there is none.
  std::string other_id(const Source& source, std::string_view name, std::string_view id) const;

 private:
  std::filesystem::path file_of(const Source& source) const;

  const Store& store_;
};

// "2026-11-21T20:05:09Z".
std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace modlock
