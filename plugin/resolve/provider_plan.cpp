#include "plugin/resolve/provider_plan.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "backends/base/parallel.h"
#include "plugin/resolve/provider_changes.h"
#include "plugin/resolve/provider_selection.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using Hashes = std::vector<std::string>;

bool is_of_archive(const std::string& hash) {
  return hash.starts_with("zh:");
}

// For an archive a client compares the hash of its entries, for a directory that of the directory.
const std::string& compared_h1(const ProviderPackage& package) {
  return package.archive_h1.empty() ? package.h1 : package.archive_h1;
}

bool matches(const ProviderPackage& package, const Hashes& prior) {
  if (package.zh.empty() && std::ranges::all_of(prior, is_of_archive)) {
    return true;
  }
  const bool is_known_archive = !package.zh.empty() && contains(prior, package.zh);
  return is_known_archive || (!package.is_compared_by_zh && contains(prior, compared_h1(package)));
}

// For a mirror a client records only the hash of the directory. If an archive is not plain, the client rejects it
// because of its own record the next time, unless the hash that it compares is recorded, too.
void add_compared(const ProviderRelease& release, Hashes& hashes) {
  for (const auto& [platform, package] : release.packages) {
    if (!package.zh.empty() && !contains(hashes, package.zh)) {
      hashes.push_back(compared_h1(package));
    }
  }
}

bool is_vouched_for(const std::string& hash, const ProviderRelease& release) {
  return contains(release.published, hash) || std::ranges::any_of(release.packages, [&](const auto& entry) {
           const ProviderPackage& package = entry.second;
           return hash == package.h1 || hash == compared_h1(package) || hash == package.zh ||
                  contains(package.recorded, hash);
         });
}

// Returns whether a package that the entry does not know may belong to a platform that it does not know either.
bool may_be_extended(const Hashes& prior, const ProviderRelease& release) {
  const auto vouched = [&](const std::string& hash) { return is_vouched_for(hash, release); };
  return std::ranges::any_of(prior, vouched) &&
         std::ranges::all_of(prior, [&](const std::string& hash) { return !is_of_archive(hash) || vouched(hash); });
}

Error mismatch(const ProviderNeed& need, const ProviderLock& prior, const Platform& platform,
               const ProviderPackage& package) {
  const bool is_directory = package.zh.empty();
  const std::string name = need.address.to_string() + " " + prior.version.to_string();
  Error error{
      .code = Code::hash_mismatch,
      .message = fmt::format("the {} package for {} doesn't match any of the checksums previously recorded in the "
                             "dependency lock file{}",
                             is_directory ? "local" : "current", name,
                             is_directory ? " (this might be because the available checksums are for packages "
                                            "targeting different platforms)"
                                          : ""),
      .subject = need.subject(),
      .location = need.location,
      .hint =
          "find out whether the release was replaced or the lock came from another source; if the package is correct, "
          "delete the provider's block from the lock file and lock again"};
  Hashes compared;
  if (!package.is_compared_by_zh) {
    compared.push_back(compared_h1(package));
  }
  if (!is_directory) {
    compared.push_back(package.zh);
  }
  error.notes.push_back(fmt::format("the package for {} has {}", platform.to_string(), fmt::join(compared, " and ")));
  return error;
}

constexpr std::size_t kProvidersAtOnce = 32;  // providers processed in parallel; they mostly wait for the network

// Entries of the predecessor's registry are used for OpenTofu's registry. Its releases are different, so the hashes
// are, too.
ProviderLocks with_successors(const ProviderLocks& locked) {
  ProviderLocks all = locked;
  for (const auto& [address, lock] : locked) {
    if (auto successor = successor_of(address)) {
      all.try_emplace(std::move(*successor), ProviderLock{.version = lock.version, .constraints = lock.constraints});
    }
  }
  return all;
}

// The results for one needed provider.
struct Finding {
  Result<void> outcome;
  ProviderLock lock;
  std::optional<ProviderSignature> signature;
  bool is_incomplete = false;  // hashes of other platforms are missing
  Diagnostics warnings;
  std::optional<ProviderListing> listing;  // if it was requested
  std::string exception;                   // of a newly chosen version: age_exception(); empty: none
};

// For map_error(): the need is the place of an error that has none.
auto placed_at(const ProviderNeed& need) {
  return [&need](Error error) {
    error.subject = error.subject.empty() ? need.subject() : error.subject;
    error.location = error.location ? error.location : need.location;
    return error;
  };
}

class Planner {
 public:
  Planner(const ProviderPlanRequest& request, ProviderSource& source, const Context& context)
      : request_(request),
        source_(source),
        context_(context),
        prior_(request.tool == ClientKind::opentofu ? with_successors(request.locked) : request.locked) {}

  Result<ProviderPlan> run() {
    plan_.diagnostics = ambiguous_providers(request_);
    if (request_.mode == PlanMode::frozen) {
      for (const auto& [address, lock] : request_.locked) {
        MODLOCK_TRY(check_provider_allowed(address, lock.version, lock.hashes, request_.settings.deny_rules));
      }
      plan_.providers = request_.locked;
      plan_.changes = changes_under_frozen(request_, prior_);
      return std::move(plan_);
    }
    MODLOCK_TRY(check_wanted());
    std::vector<Finding> findings(request_.needs.size());
    parallel_for(findings.size(), kProvidersAtOnce,
                 [&](std::size_t i) { findings[i].outcome = find(request_.needs[i], findings[i]); });
    MODLOCK_TRY(context_.check());
    Diagnostics errors;
    for (Finding& finding : findings) {
      if (!finding.outcome) {
        errors.push_back({Severity::error, std::move(finding.outcome.error())});
      }
    }
    MODLOCK_TRY(check_errors(errors));
    assemble(findings);
    return std::move(plan_);
  }

 private:
  Result<void> check_wanted() const {
    for (const auto& [address, version] : request_.wanted) {
      if (find_by(request_.needs, address, &ProviderNeed::address) == nullptr) {
        return fail(unknown_subject("provider." + address.to_string(),
                                    provider_subjects(request_.needs, default_registry(request_.tool))));
      }
    }
    return {};
  }

  bool may_change(const ProviderAddress& address, const ProviderVersion& locked_version) const {
    if (const ProviderVersion* version = find_in(request_.wanted, address)) {
      return *version != locked_version;
    }
    return request_.mode == PlanMode::upgrade && (!request_.targets || request_.targets->count(address) != 0);
  }

  Result<void> find(const ProviderNeed& need, Finding& finding) {
    MODLOCK_TRY(context_.check());
    const ProviderLock* prior = find_in(prior_, need.address);
    const bool is_kept = prior != nullptr && !may_change(need.address, prior->version);
    if (is_kept && !need.merged.allows(prior->version)) {
      return fail(excluded_version(need, prior->version, request_.tool));
    }
    if (is_kept) {
      MODLOCK_TRY(check_provider_allowed(need.address, prior->version, prior->hashes, request_.settings.deny_rules)
                      .map_error(placed_at(need)));
    }
    // The successor's release of the version may be too new.
    const bool is_followed = is_kept && request_.locked.count(need.address) == 0 && minimum_age(need).count() != 0;
    for (bool is_settled = false; !is_settled;) {
      MODLOCK_TRY(is_settled, settle(need, is_followed ? nullptr : prior, is_kept && !is_followed, finding));
    }
    return {};
  }

  // Chooses a version and finds its hashes. Returns whether the date of its signature allows it.
  Result<bool> settle(const ProviderNeed& need, const ProviderLock* prior, bool is_kept, Finding& finding) {
    if (is_kept) {
      finding.lock.version = prior->version;
    } else {
      MODLOCK_TRY(finding.lock.version, choose_version(need, prior, finding));
    }
    // A superset requests the listing only if the release is not available; clients always do.
    if (is_kept && request_.hashes != HashSet::superset) {
      MODLOCK_TRY(check_listed(need, prior->version, finding));
    }
    finding.lock.constraints = need.merged.canonical();
    const bool is_same = prior != nullptr && prior->version == finding.lock.version;
    const std::size_t warnings = finding.warnings.size();
    MODLOCK_TRY(complete(need, is_same ? prior : nullptr, is_kept, finding));
    MODLOCK_TRY(check_content(need, finding.lock));
    if (is_same || !finding.listing) {
      return true;
    }
    const auto& versions = finding.listing->versions;
    const auto found = std::ranges::find(versions, finding.lock.version) - versions.begin();
    auto& since = finding.listing->known_since.at(static_cast<std::size_t>(found));
    const auto made = finding.signature ? finding.signature->made : std::nullopt;
    if (made && *made > since && request_.now - *made < minimum_age(need)) {
      since = *made;
      finding.warnings.resize(warnings);
      return false;
    }
    finding.exception =
        age_exception(request_.limit_of(need.address), since, made, request_.now).value_or(std::string());
    return true;
  }

  // Returns the age that a version needs to be chosen.
  std::chrono::seconds minimum_age(const ProviderNeed& need) const {
    const bool is_named = request_.wanted.contains(need.address) || exact_constraint(need) != nullptr;
    return is_named ? std::chrono::seconds(0) : request_.limit_of(need.address).minimum();
  }

  // Hashes are known only after the version is chosen.
  Result<void> check_content(const ProviderNeed& need, const ProviderLock& lock) const {
    return check_provider_allowed(need.address, lock.version, lock.hashes, request_.settings.deny_rules)
        .map_error([&](Error error) {
          error.hint = "to select another version, deny this version too, or change the constraints";
          return placed_at(need)(std::move(error));
        });
  }

  Result<ProviderListing> list(const ProviderNeed& need, Finding& finding) {
    MODLOCK_TRY(auto listing, source_.list_versions(need.address, context_).map_error(placed_at(need)));
    append(finding.warnings, registry_notices(need, listing));
    return listing;
  }

  Result<void> check_listed(const ProviderNeed& need, const ProviderVersion& version, Finding& finding) {
    MODLOCK_TRY(const auto listing, list(need, finding));
    return contains(listing.versions, version) ? Result<void>() : fail(vanished_version(need, version));
  }

  Result<ProviderVersion> choose_version(const ProviderNeed& need, const ProviderLock* prior, Finding& finding) {
    if (!finding.listing) {
      MODLOCK_TRY(finding.listing, list(need, finding));
      if (const ProviderLock* followed = prior == nullptr ? find_in(prior_, need.address) : nullptr) {
        // Nothing newer than the version of the predecessor is selected: it counts as new.
        const auto& all = finding.listing->versions;
        const auto at =
            std::ranges::find_if(all, [&](const auto& one) { return compare(one, followed->version) <= 0; });
        std::fill_n(finding.listing->known_since.begin(), at - all.begin(), request_.now);
      }
    }
    const ProviderVersion* version = find_in(request_.wanted, need.address);
    if (version == nullptr) {
      return select_version(
          need, *finding.listing, request_.settings.deny_rules,
          {.minimum = minimum_age(need), .now = request_.now, .known_since = finding.listing->known_since},
          prior == nullptr ? nullptr : &prior->version);
    }
    MODLOCK_TRY(check_provider_allowed(need.address, *version, {}, request_.settings.deny_rules));
    return select_wanted(need, *finding.listing, *version);
  }

  // `prior`: the entry of the same version, or null.
  Result<void> complete(const ProviderNeed& need, const ProviderLock* prior, bool is_kept, Finding& finding) {
    if (is_kept && is_complete(need, *prior)) {
      finding.lock.hashes = prior->hashes;
      return {};
    }
    auto release = source_.release(need.address, finding.lock.version, request_.platforms, context_);
    if (!release) {
      return without_release(need, prior, is_kept, std::move(release.error()), finding);
    }
    if (prior != nullptr) {
      MODLOCK_TRY(check_prior_hashes(request_.hashes, need, *prior, *release));
    }
    finding.lock.hashes = complete_hashes(request_.hashes, prior, *release);
    note_release(need, finding.lock.version, *release);
    finding.signature = release->signature;
    finding.is_incomplete = !release->covers_all_platforms && !knows_more(prior, *release);
    append(finding.warnings, release->warnings);
    return {};
  }

  // Returns whether the entry has all known hashes of its release, in the form in which it would be written.
  bool is_complete(const ProviderNeed& need, const ProviderLock& prior) const {
    if (request_.known == nullptr || request_.hashes != HashSet::superset ||
        std::adjacent_find(prior.hashes.begin(), prior.hashes.end(), std::greater_equal<>{}) != prior.hashes.end() ||
        known_hashes(prior.hashes) != prior.hashes) {
      return false;
    }
    const auto all = request_.known->find(need.address, prior.version, request_.platforms);
    return all && std::includes(prior.hashes.begin(), prior.hashes.end(), all->begin(), all->end());
  }

  // A mirror may have fewer hashes than the registry, which a later run may query.
  void note_release(const ProviderNeed& need, const ProviderVersion& version, const ProviderRelease& release) const {
    if (request_.known != nullptr && release.covers_all_platforms) {
      request_.known->note(need.address, version, request_.platforms,
                           complete_hashes(HashSet::superset, nullptr, release));
    }
  }

  // Returns whether the entry had hashes that were not found now, so that other platforms were locked deliberately.
  static bool knows_more(const ProviderLock* prior, const ProviderRelease& release) {
    const auto fresh = complete_hashes(HashSet::init, nullptr, release);
    const auto known = prior == nullptr ? std::vector<std::string>{} : known_hashes(prior->hashes);
    return std::ranges::any_of(known,
                               [&](const std::string& hash) { return !std::ranges::binary_search(fresh, hash); });
  }

  Result<void> without_release(const ProviderNeed& need, const ProviderLock* prior, bool is_kept, Error error,
                               Finding& finding) {
    const bool is_superset = request_.hashes == HashSet::superset;
    if (is_kept && is_superset && error.code == Code::offline_miss) {
      finding.lock = *prior;
      return {};
    }
    if (is_kept && is_superset && error.code == Code::not_found) {
      MODLOCK_TRY(check_listed(need, finding.lock.version, finding));
    }
    return fail(placed_at(need)(std::move(error)));
  }

  void assemble(std::vector<Finding>& findings) {
    ProviderLocks after = request_.hashes == HashSet::providers_lock ? prior_ : ProviderLocks{};
    std::vector<std::string> incomplete;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const ProviderAddress& address = request_.needs[i].address;
      Finding& finding = findings[i];
      if (finding.signature) {
        plan_.signatures.emplace(address, *finding.signature);
      }
      if (finding.is_incomplete) {
        incomplete.push_back(address.to_string());
      }
      append(plan_.diagnostics, finding.warnings);
      after.insert_or_assign(address, std::move(finding.lock));
    }
    keep_unneeded(after);
    plan_.is_written = request_.hashes == HashSet::providers_lock || differs(after);
    if (!plan_.is_written) {
      plan_.providers = request_.locked;
      return;
    }
    plan_.providers = std::move(after);
    plan_.changes = list_provider_changes(request_, plan_.providers);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      name_young_release(request_.needs[i], findings[i].exception);
    }
    if (!incomplete.empty() && request_.hashes != HashSet::providers_lock) {
      plan_.diagnostics.push_back(incomplete_lock(incomplete, request_.platforms));
    }
  }

  void name_young_release(const ProviderNeed& need, const std::string& exception) {
    Change* change = find_by(plan_.changes, need.subject(), &Change::subject);
    if (exception.empty() || change == nullptr) {
      return;
    }
    const ProviderConstraintUse* exact = exact_constraint(need);
    const std::string why = exact == nullptr || request_.wanted.contains(need.address)
                                ? "it was requested"
                                : fmt::format("the constraint \"{}\" names it", exact->text);
    plan_.diagnostics.push_back(name_exception(*change, "provider " + need.address.to_string(), exception, why,
                                               request_.limit_of(need.address), need.location));
  }

  void keep_unneeded(ProviderLocks& after) {
    if (request_.unknown_needs.empty() || request_.hashes == HashSet::providers_lock) {
      return;
    }
    for (const auto& [address, lock] : request_.locked) {
      if (after.emplace(address, lock).second) {
        plan_.diagnostics.push_back(
            as_warning({.code = Code::state_unread,
                        .message = fmt::format("provider {} stays locked although it appears to be unused: {}",
                                               address.to_string(), request_.unknown_needs),
                        .subject = "provider." + address.to_string(),
                        .hint = "if it is no longer needed, delete its block from the lock file by hand"}));
      }
    }
  }

  // Compares as the clients do (Locks.Equal): constraints are ignored, and the order in which hashes were read matters.
  bool differs(const ProviderLocks& after) const {
    return !std::equal(after.begin(), after.end(), prior_.begin(), prior_.end(),
                       [](const auto& left, const auto& right) {
                         return left.first == right.first && left.second.version == right.second.version &&
                                left.second.hashes == right.second.hashes;
                       });
  }

  const ProviderPlanRequest& request_;
  ProviderSource& source_;
  const Context& context_;
  const ProviderLocks prior_;
  ProviderPlan plan_;
};

}  // namespace

Hashes known_hashes(const Hashes& hashes) {
  return filtered(hashes, [](const std::string& hash) { return hash.starts_with("h1:") || is_of_archive(hash); });
}

Hashes complete_hashes(HashSet set, const ProviderLock* prior, const ProviderRelease& release) {
  Hashes hashes = release.published;
  for (const auto& [platform, package] : release.packages) {
    hashes.push_back(package.h1);
    hashes.insert(hashes.end(), package.recorded.begin(), package.recorded.end());
  }
  if (set == HashSet::superset) {
    add_compared(release, hashes);
  }
  if (prior != nullptr) {
    const Hashes kept = set == HashSet::providers_lock ? prior->hashes : known_hashes(prior->hashes);
    hashes.insert(hashes.end(), kept.begin(), kept.end());
  }
  sort_unique(hashes);
  return hashes;
}

Result<void> check_prior_hashes(HashSet set, const ProviderNeed& need, const ProviderLock& prior,
                                const ProviderRelease& release) {
  const Hashes known = known_hashes(prior.hashes);
  if (known.empty() || set == HashSet::providers_lock) {
    return {};
  }
  for (const auto& [platform, package] : release.packages) {
    if (!matches(package, known) && !(set == HashSet::superset && may_be_extended(known, release))) {
      return fail(mismatch(need, prior, platform, package));
    }
  }
  return {};
}

Result<ProviderPlan> plan_providers(const ProviderPlanRequest& request, ProviderSource& source,
                                    const Context& context) {
  return Planner(request, source, context).run();
}

}  // namespace modlock
