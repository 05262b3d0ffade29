#include <fmt/format.h>

#include <algorithm>

#include "backends/base/ascii.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/version_resolver.h"

// The part of VersionResolver that finds earlier versions of calls: an installed module if nothing is locked yet, and
// the entry of a call that was renamed or moved (docs/lock-file.md).
namespace modlock {
namespace {

// Returns whether a commit matches the one that the call names, if any.
bool is_named(const ModuleNode& node, const std::string& commit) {
  std::string named = node.commit.value_or("");
  if (!node.commit && !node.address.source.named_id().empty()) {
    named = named_reference(node.address.source);
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

void VersionResolver::look_up_recorded(const ModuleNode& node) {
  if (adopts_ && !is_target(node.key) && recorded_.find(node.key) == recorded_.end()) {
    recorded_.emplace(node.key, request_.recorded(node));
  }
}

const InstalledRecord* VersionResolver::recorded(const std::string& key) const {
  const auto found = recorded_.find(key);
  return found != recorded_.end() && found->second ? &*found->second : nullptr;
}

bool VersionResolver::is_adopted(const std::string& key) const {
  const InstalledRecord* installed = recorded(key);
  const auto found = resolved_.find(key);
  if (installed == nullptr || found == resolved_.end()) {
    return false;
  }
  const ResolvedModule& resolved = found->second;
  return installed->version ? resolved.version_text() == installed->version->to_string()
                            : resolved.id == installed->commit;
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
  const auto found = std::ranges::find_if(listing.versions, [&](const ListedVersion& listed) {
    return group.commits.count(listed.id) != 0 && fits(group, listed.version);
  });
  return group.upgrade || found == listing.versions.end() ? nullptr : &*found;
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
  const auto found = renamed_.find(key);
  return found == renamed_.end() ? nullptr : found->second;
}

bool VersionResolver::has_ambiguous_name(const std::string& key) const {
  const auto found = renamed_.find(key);
  return found != renamed_.end() && found->second == nullptr;
}

void VersionResolver::meet(const ModuleNode& node) {
  if (!former_locks_.empty()) {
    met_.emplace(node.key, Met{node.address.source.identity(), level_});
  }
}

// Returns whether it is certain that the call of an entry was deleted, or has another source. Calls below a call of
// this level, or of one that was not read, are not known yet.
bool VersionResolver::is_orphan(const ModuleLock& entry) const {
  if (const auto met = met_.find(entry.key); met != met_.end()) {
    return met->second.source != entry.source;
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
    const auto above = former_locks_.find(ancestor);
    return above != former_locks_.end() && is_orphan(above->second);
  });
}

// Returns the entry that moves with the renamed call above; null if there is none.
const ModuleLock* VersionResolver::former_entry_below(const ModuleNode& node, const std::string& identity) const {
  const ModuleLock* found = nullptr;
  any_ancestor(node.key, [&](std::string_view ancestor, std::string_view rest) {
    const auto above = renamed_.find(ancestor);
    if (above == renamed_.end() || above->second == nullptr) {
      return false;
    }
    const auto entry = former_locks_.find(above->second->key + std::string(rest));
    if (entry != former_locks_.end() && entry->second.source == identity && is_orphan(entry->second)) {
      found = &entry->second;
    }
    return true;
  });
  return found;
}

void VersionResolver::find_former_entry(const ModuleNode& node) {
  if (former_locks_.empty()) {
    return;
  }
  const auto updated = request_.former_calls.find(node.key);
  const auto [identity, constraints] =
      updated != request_.former_calls.end()
          ? updated->second
          : PlanRequest::FormerCall{node.address.source.identity(), node.constraints_text()};
  const auto own = former_locks_.find(node.key);
  if (own != former_locks_.end() && own->second.source == identity) {
    return;
  }
  if (const ModuleLock* below = former_entry_below(node, identity)) {
    renamed_.emplace(node.key, below);
    return;
  }
  const ModuleLock* best = nullptr;
  std::size_t most = 0;
  bool agree = true;
  const auto [first, last] = formers_by_source_.equal_range(identity);
  for (auto at = first; at != last; ++at) {
    const ModuleLock& entry = *at->second;
    if (entry.constraints != constraints || !is_orphan(entry) || follows_an_orphan(entry.key)) {
      continue;
    }
    const std::size_t common = common_labels(entry.key, node.key);
    if (best == nullptr || common > most) {
      best = &entry;
      most = common;
      agree = true;
    } else if (common == most) {
      agree = agree && lock_the_same(*best, entry);
    }
  }
  if (best != nullptr) {
    renamed_.emplace(node.key, agree ? best : nullptr);
  }
}

}  // namespace modlock
