#include "plugin/resolve/provider_changes.h"

#include <fmt/ranges.h>

#include <map>
#include <set>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"

namespace modlock {
namespace {

std::optional<ProviderAddress> same_type(const ProviderAddress& address, std::string_view from, std::string_view to) {
  if (address.host_ascii() != from || address.name_space() != "hashicorp") {
    return std::nullopt;
  }
  auto other = ProviderAddress::parse(fmt::format("{}/hashicorp/{}", to, address.type()), kOpenTofuRegistry);
  return other ? std::optional(std::move(*other)) : std::nullopt;
}

const ProviderNeed* need_of(const ProviderPlanRequest& request, const ProviderAddress& address) {
  const auto found = std::ranges::lower_bound(request.needs, address, std::less<>(), &ProviderNeed::address);
  return found != request.needs.end() && found->address == address ? &*found : nullptr;
}

Change added(const ProviderPlanRequest& request, const ProviderAddress& address, const ProviderLock& lock) {
  const auto old = predecessor_of(address);
  const ProviderLock* entry = old && request.tool == ClientKind::opentofu ? find_in(request.locked, *old) : nullptr;
  const bool is_taken_over = entry != nullptr && entry->version == lock.version;
  const ProviderNeed* need = need_of(request, address);
  return {.subject = subject_of(address),
          .action = Action::added,
          .to = side_of(lock),
          .constraints = constraints_of(lock),
          .reason = is_taken_over     ? "in the place of " + old->to_string()
                    : need != nullptr ? need->who_needs_it()
                                      : "it is locked under its old address"};
}

Change removed(const ProviderAddress& address, const ProviderLock& lock) {
  return {.subject = subject_of(address),
          .action = Action::removed,
          .from = side_of(lock),
          .reason = "it is no longer needed"};
}

std::string new_hashes_reason(std::ptrdiff_t more, std::ptrdiff_t fewer) {
  if (more == 0 && fewer == 0) {
    return "the hashes were sorted";
  }
  const std::string gone = fewer == 0 ? "" : fmt::format(", {} of unknown schemes removed", fewer);
  return fmt::format("{} {} more{}", more, more == 1 ? "hash" : "hashes", gone);
}

// Both entries have the same version.
std::optional<Change> extended(const ProviderAddress& address, const ProviderLock& before, const ProviderLock& after) {
  Change change{.subject = subject_of(address),
                .action = Action::hashes_added,
                .from = side_of(before),
                .to = side_of(after),
                .constraints = constraints_of(after)};
  if (before.hashes != after.hashes) {
    const auto count_missing = [](const std::set<std::string>& all, const std::vector<std::string>& other) {
      return std::ranges::count_if(all, [&](const std::string& hash) { return !contains(other, hash); });
    };
    change.reason = new_hashes_reason(count_missing({after.hashes.begin(), after.hashes.end()}, before.hashes),
                                      count_missing({before.hashes.begin(), before.hashes.end()}, after.hashes));
    return change;
  }
  if (before.constraints != after.constraints) {
    change.action = Action::constraints_changed;
    change.reason = before.constraints.empty() ? "there were no constraints"
                                               : fmt::format("the constraints were {}", before.constraints);
    return change;
  }
  return std::nullopt;
}

std::optional<Change> compare_entry(const ProviderAddress& address, const ProviderLock& before,
                                    const ProviderLock& after) {
  if (before.version == after.version) {
    return extended(address, before, after);
  }
  return Change{.subject = subject_of(address),
                .action = Action::updated,
                .from = side_of(before),
                .to = side_of(after),
                .constraints = constraints_of(after),
                .reason = compare(after.version, before.version) < 0
                              ? "the newest version that the constraints allow is older"
                              : "a newer version"};
}

// Under frozen, for a needed provider. Clients also accept one whose only entry is that of a predecessor which is
// needed, too.
std::optional<Change> missing_or_excluded(const ProviderPlanRequest& request, const ProviderLocks& prior,
                                          const ProviderNeed& need) {
  Change change{.subject = need.subject(), .constraints = need.merged.canonical()};
  const ProviderLock* lock = find_in(prior, need.address);
  if (lock == nullptr) {
    change.reason = need.who_needs_it() + " and it is not locked";
    return change;
  }
  if (!need.merged.allows(lock->version)) {
    change.action = Action::updated;
    change.from = side_of(*lock);
    change.reason = fmt::format("the constraint {} excludes the locked version {}", need.merged.canonical(),
                                lock->version.to_string());
    return change;
  }
  const auto old = predecessor_of(need.address);
  if (request.locked.count(need.address) == 0 && !(old && need_of(request, *old) != nullptr)) {
    change.reason = need.who_needs_it() + " and it is locked under its old address";
    return change;
  }
  return std::nullopt;
}

// Under frozen, for a provider that also uses the entry `old`, which is needed itself.
Change stood_for(const ProviderAddress& address, const ProviderLock& lock, const ProviderAddress& old) {
  return {.subject = subject_of(address),
          .action = Action::removed,
          .from = side_of(lock),
          .reason = fmt::format("OpenTofu also uses the entry of {} for this provider, which is not needed, and its "
                                "init -lockfile=readonly rejects that; the source hashicorp/{} avoids it",
                                old.to_string(), old.type()),
          .is_made_by_lock = false};
}

Diagnostic ambiguous(const std::string& type, const std::vector<const ProviderNeed*>& needs) {
  Error error{.code = Code::provider_ambiguous,
              .subject = needs.front()->subject(),
              .location = needs.front()->location,
              .hint = "if this is not intended, write the same source in required_providers of all modules"};
  for (const ProviderNeed* need : needs) {
    if (!need->location.path.empty()) {
      error.related.push_back({need->who_needs_it(), need->location});
    }
  }
  error.message =
      fmt::format("Potential provider misconfiguration: there are multiple providers of type {} ({})", type,
                  fmt::join(mapped(needs, [](const ProviderNeed* need) { return need->address.to_string(); }), ", "));
  return {Severity::warning, std::move(error)};
}

}  // namespace

std::string subject_of(const ProviderAddress& address) {
  return "provider." + address.to_string();
}

std::optional<std::string> constraints_of(const ProviderLock& lock) {
  return lock.constraints.empty() ? std::nullopt : std::optional(lock.constraints);
}

std::optional<ProviderAddress> successor_of(const ProviderAddress& address) {
  return same_type(address, kTerraformRegistry, kOpenTofuRegistry);
}

std::optional<ProviderAddress> predecessor_of(const ProviderAddress& address) {
  return same_type(address, kOpenTofuRegistry, kTerraformRegistry);
}

ChangeSide side_of(const ProviderLock& lock) {
  return {.version = lock.version.to_string()};
}

std::vector<Change> list_provider_changes(const ProviderPlanRequest& request, const ProviderLocks& after) {
  std::map<ProviderAddress, Change> found;
  for (const auto& [address, lock] : after) {
    const ProviderLock* before = find_in(request.locked, address);
    if (before == nullptr) {
      found.emplace(address, added(request, address, lock));
    } else if (auto change = compare_entry(address, *before, lock)) {
      found.emplace(address, std::move(*change));
    }
  }
  for (const auto& [address, lock] : request.locked) {
    if (after.count(address) == 0) {
      found.emplace(address, removed(address, lock));
    }
  }
  return values_of(found);
}

std::vector<Change> changes_under_frozen(const ProviderPlanRequest& request, const ProviderLocks& prior) {
  std::map<ProviderAddress, Change> found;
  for (const ProviderNeed& need : request.needs) {
    if (auto change = missing_or_excluded(request, prior, need)) {
      found.emplace(need.address, std::move(*change));
    }
  }
  for (const auto& [address, lock] : prior) {
    if (!request.unknown_needs.empty() || need_of(request, address) != nullptr) {
      continue;
    }
    if (request.locked.count(address) != 0) {
      found.emplace(address, removed(address, lock));
    } else if (const auto old = predecessor_of(address); old && need_of(request, *old) != nullptr) {
      found.emplace(address, stood_for(address, lock, *old));
    }
  }
  return values_of(found);
}

Diagnostics ambiguous_providers(const ProviderPlanRequest& request) {
  if (request.tool != ClientKind::opentofu || request.hashes == HashSet::providers_lock) {
    return {};
  }
  std::map<std::string, std::vector<const ProviderNeed*>> by_type;
  for (const ProviderNeed& need : request.needs) {
    if (need.address.name_space() == "hashicorp" || need.address.name_space() == "opentofu") {
      by_type[need.address.type()].push_back(&need);
    }
  }
  Diagnostics warnings;
  for (const auto& [type, needs] : by_type) {
    if (needs.size() > 1) {
      warnings.push_back(ambiguous(type, needs));
    }
  }
  return warnings;
}

Diagnostics registry_notices(const ProviderNeed& need, const ProviderListing& listing) {
  Diagnostics notices;
  for (const std::string& text : listing.warnings) {
    notices.push_back(as_warning(
        {.code = Code::registry_notice,
         .message = fmt::format("registry notice for provider {}: {}", need.address.to_string(), escape_controls(text)),
         .subject = need.subject(),
         .location = need.location,
         .hint = "the lock is valid; decide whether to keep using the provider"}));
  }
  return notices;
}

Diagnostic incomplete_lock(const std::vector<std::string>& names, std::span<const Platform> platforms) {
  return as_warning(
      {.code = Code::lock_incomplete,
       .message = fmt::format("Incomplete lock file information for providers: for {} the lock file has "
                              "checksums only for {}, because no registry was queried",
                              fmt::join(names, ", "), fmt::join(mapped(platforms, &Platform::to_string), ", ")),
       .hint = "on another platform the client will reject them; name all platforms with --platform, or query "
               "the registry with --hashes providers-lock"});
}

}  // namespace modlock
