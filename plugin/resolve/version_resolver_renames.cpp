// The part of VersionResolver that finds the entries of calls that were renamed or moved (docs/lock-file.md).

#include <algorithm>

#include "plugin/resolve/version_resolver.h"

namespace modlock {
namespace {

bool lock_the_same(const ModuleLock& a, const ModuleLock& b) {
  return a.version == b.version && a.hashes == b.hashes;
}

// Calls `visit(ancestor, rest)` for the keys above one, the nearest first: "a.b" and ".c" of "a.b.c". Ends where it
// returns true, and returns that.
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

// Whether it is certain that the call of an entry is gone, or has another source. What is below a call of this level,
// or of one that was not read, is not known yet.
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

// What is below a call goes where that goes.
bool VersionResolver::follows_an_orphan(const std::string& key) const {
  return any_ancestor(key, [&](std::string_view ancestor, std::string_view) {
    const auto above = former_locks_.find(ancestor);
    return above != former_locks_.end() && is_orphan(above->second);
  });
}

// The entry that goes with the renamed call above; null if there is none.
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
  const std::string identity = node.address.source.identity();
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
    if (entry.constraints != node.constraints_text() || !is_orphan(entry) || follows_an_orphan(entry.key)) {
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
