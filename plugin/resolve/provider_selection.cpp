#include "plugin/resolve/provider_selection.h"

#include <fmt/ranges.h>

#include <set>

#include "backends/base/collections.h"

namespace modlock {
namespace {

using Uses = std::vector<const ProviderConstraintUse*>;

constexpr std::size_t kShownVersions = 5;

std::string newest_of(const ProviderListing& listing) {
  const auto newest = std::span(listing.versions).first(std::min(listing.versions.size(), kShownVersions));
  return fmt::format("{}", fmt::join(mapped(newest, &ProviderVersion::to_string), ", "));
}

bool leaves_nothing(const Uses& uses, const ProviderListing& listing) {
  const auto merged = ProviderConstraint::merge(mapped(uses, &ProviderConstraintUse::constraint));
  return std::ranges::none_of(listing.versions, [&](const ProviderVersion& version) { return merged.allows(version); });
}

// Returns constraints of which none can be removed without the others allowing a version; of identical ones only the
// first.
Uses smallest_conflict(const ProviderNeed& need, const ProviderListing& listing) {
  Uses uses;
  std::set<std::string> seen;
  for (const ProviderConstraintUse& use : need.constraints) {
    if (seen.insert(use.constraint.canonical()).second) {
      uses.push_back(&use);
    }
  }
  for (std::size_t i = 0; i < uses.size();) {
    Uses others = uses;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!others.empty() && leaves_nothing(others, listing)) {
      uses = std::move(others);
    } else {
      ++i;
    }
  }
  return uses;
}

// OpenTofu treats 0.0.0 as no version, in a constraint and in a listing.
bool asks_for_zero(const ProviderNeed& need) {
  const auto& items = need.merged.items();
  return std::ranges::any_of(items, [](const ProviderConstraint::Item& item) {
    return item.comparator == Comparator::equal && item.version == ProviderVersion{};
  });
}

Error no_version(const ProviderNeed& need, const ProviderListing& listing) {
  Error error{.code = Code::no_matching_version, .subject = need.subject(), .location = need.location};
  const std::string name = need.address.to_string();
  if (asks_for_zero(need)) {
    error.message = fmt::format("provider {}: 0.0.0 is not a valid provider version", name);
    error.hint = "for a provider that is not published use dev_overrides in the CLI configuration";
    return error;
  }
  if (need.constraints.empty()) {
    error.message = listing.versions.empty()
                        ? fmt::format("provider {} has no versions", name)
                        : fmt::format("provider {} has no releases, only prereleases: {}", name, newest_of(listing));
    error.hint = listing.versions.empty() ? "correct the source of the provider"
                                          : fmt::format("name a prerelease exactly to use it: version = \"{}\"",
                                                        listing.versions.front().to_string());
    return error;
  }
  error.message = fmt::format("provider {}: no available releases match the given constraints {}; the newest are: {}",
                              name, need.merged.canonical(), listing.versions.empty() ? "none" : newest_of(listing));
  const Uses uses = smallest_conflict(need, listing);
  error.location = uses.front()->location;
  if (uses.size() > 1) {
    error.code = Code::constraint_conflict;
  }
  for (const ProviderConstraintUse* use : uses) {
    error.related.push_back({use->sentence(), use->location});
  }
  error.hint =
      uses.size() > 1 ? "change one of these constraints: together they leave no version" : "change the constraint";
  return error;
}

// Adds the constraints that do not allow a version as `related`; the first is the error's location.
void name_excluding(const ProviderNeed& need, const ProviderVersion& version, Error& error) {
  for (const ProviderConstraintUse& use : need.constraints) {
    if (!use.constraint.allows(version)) {
      error.location = error.related.empty() ? use.location : error.location;
      error.related.push_back({use.sentence(), use.location});
    }
  }
}

}  // namespace

Result<ProviderVersion> select_version(const ProviderNeed& need, const ProviderListing& listing,
                                       std::span<const DenyRule> rules, const ReleaseGate& gate,
                                       const ProviderVersion* locked) {
  std::optional<Error> denied;
  std::optional<std::size_t> oldest;
  for (std::size_t i = 0; i < listing.versions.size(); ++i) {
    const ProviderVersion& version = listing.versions[i];
    if (!need.merged.allows(version)) {
      continue;
    }
    if (auto allowed = check_provider_allowed(need.address, version, {}, rules); !allowed) {
      denied = denied ? std::move(denied) : std::move(allowed.error());
    } else if (gate.is_old_enough(i) || (locked != nullptr && *locked == version)) {
      return version;
    } else if (!oldest || gate.known_since[i] < gate.known_since[*oldest]) {
      oldest = i;
    }
  }
  if (oldest) {
    return fail(placed(too_young(listing.versions[*oldest].to_string(), "provider " + need.address.to_string(),
                                 gate.known_since[*oldest], gate),
                       need.subject(), need.constraints.empty() ? need.location : need.constraints.front().location));
  }
  if (!denied) {
    return fail(no_version(need, listing));
  }
  denied->message =
      fmt::format("no matching version of provider {} is left: {}", need.address.to_string(), denied->message);
  denied->hint = "wait for a fixed release, change the constraints, or remove the rule";
  denied->location = need.location;
  for (const ProviderConstraintUse& use : need.constraints) {
    denied->related.push_back({use.sentence(), use.location});
  }
  return fail(std::move(*denied));
}

const ProviderConstraintUse* exact_constraint(const ProviderNeed& need) {
  return find_where(need.constraints, [](const auto& use) {
    const auto& items = use.constraint.items();
    return std::ranges::any_of(items, [](const auto& item) { return item.comparator == Comparator::equal; });
  });
}

Result<void> check_provider_allowed(const ProviderAddress& address, const ProviderVersion& version,
                                    std::span<const std::string> hashes, std::span<const DenyRule> rules) {
  const DenyRule* rule = find_denial(rules, address, version, hashes);
  const std::string name = address.to_string();
  return rule == nullptr ? Result<void>()
                         : fail(denied_release(*rule, version.to_string(), name, "provider." + name,
                                               tofu_modlock("upgrade", "--target", "provider." + name)));
}

Result<ProviderVersion> select_wanted(const ProviderNeed& need, const ProviderListing& listing,
                                      const ProviderVersion& wanted) {
  Error error{.subject = need.subject(), .location = need.location};
  const std::string name = need.address.to_string();
  if (!need.merged.allows(wanted)) {
    error.code = Code::constraint_conflict;
    error.message = fmt::format("provider {}: the constraints {} do not allow {}", name, need.merged.canonical(),
                                wanted.to_string());
    error.hint = "change these constraints too";
    name_excluding(need, wanted, error);
    return fail(std::move(error));
  }
  if (!contains(listing.versions, wanted)) {
    error.code = Code::no_matching_version;
    error.message = fmt::format("provider {} has no version {}; the newest are: {}", name, wanted.to_string(),
                                listing.versions.empty() ? "none" : newest_of(listing));
    error.hint = "choose an offered version";
    return fail(std::move(error));
  }
  return wanted;
}

Error excluded_version(const ProviderNeed& need, const ProviderVersion& locked, ClientKind tool) {
  Error error{.code = Code::constraint_conflict,
              .message = fmt::format("locked provider {} {} does not match configured version constraint {}; must use "
                                     "{} init -upgrade to allow selection of new versions",
                                     need.address.to_string(), locked.to_string(), need.merged.canonical(),
                                     tool == ClientKind::terraform ? "terraform" : "tofu"),
              .subject = need.subject(),
              .location = need.location,
              .hint = "run: " + tofu_modlock("upgrade", "--target", need.subject())};
  name_excluding(need, locked, error);
  return error;
}

Error vanished_version(const ProviderNeed& need, const ProviderVersion& locked) {
  return Error{.code = Code::not_found,
               .message = fmt::format("provider {}: the previously-selected version {} is no longer available",
                                      need.address.to_string(), locked.to_string()),
               .subject = need.subject(),
               .location = need.location,
               .hint = "to select another version, run: " + tofu_modlock("upgrade", "--target", need.subject()),
               .reason = Reason::locked_thing_gone};
}

}  // namespace modlock
