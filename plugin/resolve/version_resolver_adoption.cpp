// The part of VersionResolver that keeps what is installed where nothing is locked yet.

#include <fmt/format.h>

#include <algorithm>

#include "plugin/resolve/call_kind.h"
#include "plugin/resolve/version_resolver.h"

namespace modlock {
namespace {

// Whether a commit is what the call names, where it names one.
bool is_named(const ModuleNode& node, const std::string& commit) {
  std::string named = node.commit.value_or("");
  if (!node.commit && !node.address.source.named_id().empty()) {
    named = named_reference(node.address.source);
  }
  const auto lower = [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; };
  return named.size() <= commit.size() &&
         std::equal(named.begin(), named.end(), commit.begin(), [&](char a, char b) { return lower(a) == b; });
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
  if (installed->version) {
    return resolved.version && resolved.version->to_string() == installed->version->to_string();
  }
  return resolved.id == installed->commit;
}

// What counts as locked: a version of a registry, with the commit where the tree has one, or a commit that needs no
// version.
std::optional<VersionResolver::Locked> VersionResolver::recorded_candidate(const ModuleNode& node) const {
  const InstalledRecord* installed = recorded(node.key);
  const bool is_registry = node.address.source.is_registry();
  if (installed == nullptr || (chooses_version(node) && !is_registry)) {
    return std::nullopt;
  }
  Locked locked;
  if (!installed->commit.empty()) {
    const std::string hash = "git:" + installed->commit;
    locked.resolved.id = fetcher_.backend(node.address.source)->id_of({&hash, 1});
  }
  if (is_registry) {
    locked.resolved.version = installed->version;
    locked.resolved.ref = installed->version ? installed->version->to_string() : "";
    return installed->version ? std::optional(std::move(locked)) : std::nullopt;
  }
  const bool fits = !locked.resolved.id.empty() && is_named(node, installed->commit);
  return fits ? std::optional(std::move(locked)) : std::nullopt;
}

// The highest version that names an installed commit and that all constraints allow; null where there is none.
const ListedVersion* VersionResolver::find_installed_version(const Group& group, const Listing& listing) {
  const auto found = std::find_if(listing.versions.begin(), listing.versions.end(), [&](const ListedVersion& listed) {
    return group.commits.count(listed.id) != 0 && fits(group, listed.version);
  });
  return group.upgrade || found == listing.versions.end() ? nullptr : &*found;
}

// A first lock fails rather than lock something else than what is in use.
Error VersionResolver::explain_fetch(const Group& group, Error error) const {
  const ModuleNode& node = *group.level.front();
  const InstalledRecord* installed = group.locked ? recorded(node.key) : nullptr;
  if (installed == nullptr) {
    error.locked_thing_gone = group.locked && error.code == Code::not_found;
    return error;
  }
  if (error.code == Code::not_found || error.code == Code::hash_mismatch) {
    error.locked_thing_gone = false;
    error.notes.push_back(
        fmt::format("{} is installed for module \"{}\", and a first lock keeps it", installed->text(), node.key));
    error.hint = fmt::format(
        "to lock what the source gives now, run: tofu-modlock upgrade --target {}, or for all modules: tofu-modlock "
        "lock --no-adopt",
        node.subject());
  }
  return error;
}

}  // namespace modlock
