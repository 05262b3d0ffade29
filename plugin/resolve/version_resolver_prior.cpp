#include <fmt/format.h>

#include <algorithm>

#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/version_resolver.h"

// The part of VersionResolver that finds earlier versions of calls: an installed module if nothing is locked yet, and
// the entry of a call that was renamed or moved (docs/lock-file.md).
namespace modlock {
namespace {

// Returns whether a commit matches the one that the call names, if any.
bool is_named(const ModuleNode& node, const std::string& commit) {
  std::string named = node.commit.value_or("");
  if (!node.commit && !node.address.source.named_id().empty()) {
    named = node.address.source.named_reference();
  }
  return named.size() <= commit.size() &&
         std::equal(named.begin(), named.end(), commit.begin(), [](char a, char b) { return ascii::to_lower(a) == b; });
}

bool lock_the_same(const ModuleLock& a, const ModuleLock& b) {
  return a.version == b.version && a.hashes == b.hashes;
}

// Calls `visit(ancestor, rest)` for the keys above one, the nearest first: "a.b" and ".c" of "a.b.c". Stops and returns
// true when it returns true.
template <typename Visit>
bool any_ancestor(std::string_view key, const Visit& visit) {
  for (std::size_t dot = key.rfind('.'); dot != std::string_view::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
    if (visit(key.substr(0, dot), key.substr(dot))) {
      return true;
    }
  }
  return false;
}

}  // namespace

const InstalledRecord* VersionResolver::recorded(const std::string& key) const {
  const auto* found = find_in(recorded_, key);
  return found != nullptr && *found ? &**found : nullptr;
}

bool VersionResolver::is_adopted(const std::string& key) const {
  const InstalledRecord* installed = recorded(key);
  const ResolvedModule* resolved = find_in(resolved_, key);
  return installed != nullptr && resolved != nullptr &&
         (installed->version ? resolved->version_text() == installed->version->to_string()
                             : resolved->id == installed->commit);
}

// Returns what is treated as locked: a version of a registry, with the commit if the tree has one, or a commit that
// needs no version.
std::optional<VersionResolver::Locked> VersionResolver::recorded_candidate(const ModuleNode& node) const {
  const InstalledRecord* installed = recorded(node.key);
  const bool is_registry = node.address.source.is_registry();
  if (installed == nullptr || (chooses_version(node) && !is_registry)) {
    return std::nullopt;
  }
  Locked locked;
  if (const std::string hash = origin_of(installed->commit, "", ""); !hash.empty()) {
    locked.resolved.id = fetcher_.backend(node.address.source)->id_of({&hash, 1});
  }
  if (is_registry) {
    locked.resolved.version = installed->version;
    locked.resolved.ref = installed->version ? installed->version->to_string() : "";
    return installed->version ? std::optional(std::move(locked)) : std::nullopt;
  }
  const bool fits = !locked.resolved.id.empty() && is_named(node, locked.resolved.id);
  return fits ? std::optional(std::move(locked)) : std::nullopt;
}

// Returns the highest version that names an installed commit and that all constraints allow; null if there is none.
const ListedVersion* VersionResolver::find_installed_version(const Group& group, const Listing& listing) {
  const ListedVersion* found = find_where(listing.versions, [&](const ListedVersion& listed) {
    return group.commits.contains(listed.id) && fits(group, listed.version);
  });
  return group.upgrade ? nullptr : found;
}

// A first lock fails rather than lock content other than what is in use.
Error VersionResolver::explain_fetch(const Group& group, Error error) const {
  const ModuleNode& node = *group.level.front();
  const InstalledRecord* installed = group.locked ? recorded(node.key) : nullptr;
  if (installed == nullptr) {
    const bool is_locked = group.locked || (!chooses_version(node) && prior(node) != nullptr);
    error.reason = is_locked && error.code == Code::not_found ? Reason::locked_thing_gone : error.reason;
    if (is_locked && error.code == Code::offline_miss) {
      error.hint = "run it without --offline, or install from a bundle: " + tofu_modlock("install", "--from", "BUNDLE");
    }
    return error;
  }
  if (error.code == Code::not_found || error.code == Code::hash_mismatch) {
    error.reason = Reason::none;
    error.notes.push_back(
        fmt::format("{} is installed for module \"{}\", and a first lock keeps it", installed->text(), node.key));
    error.hint =
        "to select a version from the source instead, run: " + tofu_modlock("upgrade", "--target", node.subject()) +
        ", or for all modules: " + tofu_modlock("lock", "--no-adopt");
  }
  return error;
}

const ModuleLock* VersionResolver::renamed_from(const std::string& key) const {
  const ModuleLock* const* found = find_in(renamed_, key);
  return found == nullptr ? nullptr : *found;
}

bool VersionResolver::has_ambiguous_name(const std::string& key) const {
  return renamed_.contains(key) && renamed_from(key) == nullptr;
}

// Returns whether it is certain that the call of an entry was deleted, or has another source. Calls below a call of
// this level, or of one that was not read, are not known yet.
bool VersionResolver::is_orphan(const ModuleLock& entry) const {
  if (const Met* met = find_in(met_, entry.key)) {
    return met->source != entry.source;
  }
  const bool is_unknown = any_ancestor(entry.key, [&](std::string_view ancestor, std::string_view) {
    const auto above = met_.find(ancestor);
    return above != met_.end() && (above->second.level == level_ || unserved_.count(above->first) != 0 ||
                                   frozen_out_.count(above->first) != 0);
  });
  return !is_unknown && entry.key.find(':') == std::string::npos;
}

// Calls below a call move with it.
bool VersionResolver::follows_an_orphan(const std::string& key) const {
  return any_ancestor(key, [&](std::string_view ancestor, std::string_view) {
    const ModuleLock* above = find_in(former_locks_, ancestor);
    return above != nullptr && is_orphan(*above);
  });
}

// Returns the entry that moves with the renamed call above; null if there is none.
const ModuleLock* VersionResolver::former_entry_below(const ModuleNode& node, const std::string& identity) const {
  const ModuleLock* found = nullptr;
  any_ancestor(node.key, [&](std::string_view ancestor, std::string_view rest) {
    const ModuleLock* above = renamed_from(std::string(ancestor));
    const ModuleLock* entry = above == nullptr ? nullptr : find_in(former_locks_, above->key + std::string(rest));
    if (entry != nullptr && entry->source == identity && is_orphan(*entry)) {
      found = entry;
    }
    return above != nullptr;
  });
  return found;
}

void VersionResolver::find_former_entry(const ModuleNode& node) {
  if (former_locks_.empty()) {
    return;
  }
  const PlanRequest::FormerCall* updated = find_in(request_.former_calls, node.key);
  const auto [identity, constraints] =
      updated != nullptr ? *updated : PlanRequest::FormerCall{node.address.source.identity(), node.constraints_text()};
  const ModuleLock* own = find_in(former_locks_, node.key);
  if (own != nullptr && own->source == identity) {
    return;
  }
  if (const ModuleLock* below = former_entry_below(node, identity)) {
    renamed_.emplace(node.key, below);
    return;
  }
  std::vector<const ModuleLock*> orphans;
  const auto [first, last] = formers_by_source_.equal_range(identity);
  for (auto at = first; at != last; ++at) {
    const ModuleLock& entry = *at->second;
    if (entry.constraints == constraints && is_orphan(entry) && !follows_an_orphan(entry.key)) {
      orphans.push_back(&entry);
    }
  }
  orphans = closest_entries(node.key, std::move(orphans));
  if (!orphans.empty()) {
    const bool agree =
        std::ranges::all_of(orphans, [&](const ModuleLock* entry) { return lock_the_same(*orphans.front(), *entry); });
    renamed_.emplace(node.key, agree ? orphans.front() : nullptr);
  }
}

}  // namespace modlock
