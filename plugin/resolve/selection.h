#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "backends/backend.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// Decides which versions are old enough to be chosen.
struct ReleaseGate {
  std::chrono::seconds minimum{0};
  std::chrono::system_clock::time_point now = {};
  std::span<const std::chrono::system_clock::time_point> known_since = {};  // of each version of the listing
  // The age and the deprecation of versions in use do not matter; otherwise an upgrade would select an older version.
  // Empty: none are in use.
  std::function<bool(const ListedVersion&)> is_locked = {};
  // Returns the rule that denies a version; null: none. Empty: no version is denied.
  std::function<const DenyRule*(const ListedVersion&)> find_denial = {};

  bool is_old_enough(std::size_t version) const {
    return minimum.count() == 0 || now - known_since[version] >= minimum;
  }
  bool lets_through(const Listing& listing, std::size_t version) const {
    return is_old_enough(version) || is_in_use(listing.versions[version]);
  }
  bool is_in_use(const ListedVersion& version) const { return is_locked && is_locked(version); }
};

// Returns the newest version of a listing that every constraint and the gate allow; without a constraint the newest
// release. A deprecated version is selected only if it is in use or if no other version fits. Pure. Errors:
// NO_MATCHING_VERSION (there is no release; or a single constraint has no match: names it, the newest three versions,
// and how many tags were skipped and why); CONSTRAINT_CONFLICT (each has a match, together they have none: every
// constraint with its module and location, what to change, and the setting `resolution = "per-call"`);
// VERSION_AMBIGUOUS (two tags of the selected version with different ids match; builds such as 1.2.0+a and 1.2.0+b
// too). Also NO_MATCHING_VERSION if all matching versions are too new: reports when the first is old enough.
// RELEASE_DENIED if deny rules leave no matching version.
Result<ListedVersion> select_version(const Listing& listing, std::span<const ConstraintUse> uses,
                                     const std::string& package, const ReleaseGate& gate = {});

// Returns the first listed version with this text; null: there is none.
const ListedVersion* find_listed(const Listing& listing, std::string_view version);

// Returns NO_MATCHING_VERSION: even the oldest matching version is too new. `of`: `"github.com/acme/vpc"`.
Error too_young(const std::string& version, const std::string& of, std::chrono::system_clock::time_point since,
                const ReleaseGate& gate);

// Returns another tag of a listed version that the constraints select, with another id; empty if there is none.
std::string find_other_tag(const Listing& listing, const ListedVersion& chosen,
                           std::span<const ConstraintUse> uses = {});

// Returns the version by its tag that is written as `tag`: with or without "v", with the same metadata. nullopt: none,
// or several. The id and the reference are empty if the listing has only those of another tag. `prefix`: of all tags.
std::optional<ListedVersion> find_spelled(const Listing& listing, const Version& version, std::string_view prefix,
                                          std::string_view tag);

// Returns the version if `other_tag` is empty. Errors: VERSION_AMBIGUOUS, as above.
Result<ListedVersion> check_unambiguous(const ListedVersion& chosen, std::span<const ConstraintUse> uses,
                                        const std::string& package, const std::string& other_tag);

// Returns "1.2.5, 1.2.4, 1.2.3", at most three; "none".
std::string newest_versions(const Listing& listing);

}  // namespace modlock
