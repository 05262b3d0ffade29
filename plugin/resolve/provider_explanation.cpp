#include "plugin/resolve/provider_explanation.h"
#include "plugin/resolve/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/resolve/provider_selection.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::string_view kOnlyByName = "a prerelease is chosen only if a constraint names it exactly";

class ProviderExplainer {
 public:
  ProviderExplainer(const ProviderPlanRequest& request, const ProviderNeed& need, const LockFile& lock,
                    const std::string& lock_path)
      : request_(request), need_(need), lock_(lock), lock_path_(lock_path) {
    const auto locked = request.locked.find(need.address);
    locked_ = locked == request.locked.end() ? nullptr : &locked->second;
  }

  messages::LockExplainResult run(const Result<ProviderListing>& listing, ClientKind tool) {
    take_candidates(listing);
    for (const ProviderConstraintUse& use : need_.constraints) {
      add_step({.constraint = use.text,
                .subject = use.module.empty() ? "" : "module." + use.module,
                .location = use.location},
               [&](const ProviderVersion& version) { return why_rejected(use.constraint, version); });
    }
    if (need_.constraints.empty()) {
      add_step({.constraint = "any release", .location = need_.location},
               [&](const ProviderVersion& version) { return why_rejected({}, version); });
    }
    for (const DenyRule& rule : request_.deny_rules) {
      if (rule.releases.source.matches(need_.address)) {
        add_step({.constraint = fmt::format("deny \"{}\"", rule.releases.source.text()), .location = rule.location},
                 [&](const ProviderVersion& version) {
                   const bool is_denied = rule.releases.matches(need_.address, version, {});
                   return is_denied ? std::optional(rule.text()) : std::nullopt;
                 });
      }
    }
    explain_age();
    if (locked_ != nullptr && !need_.merged.allows(locked_->version)) {
      out_.diagnostics.push_back({Severity::warning, excluded_version(need_, locked_->version, tool)});
      out_.selected.reason = fmt::format("the locked version {} is excluded", locked_->version.to_string());
    } else if (locked_ != nullptr) {
      explain_locked();
    } else if (candidates_.empty()) {
      out_.selected.reason = "no version is left";
    } else {
      out_.selected.version = candidates_.front().to_string();
      out_.selected.reason = "it is the newest remaining version";
    }
    return std::move(out_);
  }

 private:
  using Why = std::optional<std::string>;

  void take_candidates(const Result<ProviderListing>& listing) {
    if (listing) {
      candidates_ = listing->versions;
      for (std::size_t i = 0; i < listing->known_since.size(); ++i) {
        known_since_.emplace(candidates_[i].to_string(), listing->known_since[i]);
      }
      return;
    }
    Error error = listing.error();
    error.message = "the versions are not known: " + error.message;
    out_.diagnostics.push_back({Severity::warning, std::move(error)});
    if (locked_ != nullptr) {
      candidates_.push_back(locked_->version);
    }
  }

  void explain_age() {
    const AgeLimit limit = request_.limit_of(need_.address);
    if (limit.minimum().count() == 0) {
      return;
    }
    add_step({.constraint = "minimum_release_age = \"" + age_text(limit.minimum()) + "\"",
              .location = limit.rule == nullptr ? std::nullopt : std::optional(limit.rule->location)},
             [&](const ProviderVersion& version) -> Why {
               if ((locked_ != nullptr && version == locked_->version) || exact_constraint(need_) != nullptr) {
                 return std::nullopt;
               }
               const auto since = known_since_.at(version.to_string());
               return request_.now - since >= limit.minimum() ? std::nullopt : Why(youth_text(since, request_.now));
             });
  }

  bool is_named(const ProviderVersion& version) const {
    const auto& items = need_.merged.items();
    return std::any_of(items.begin(), items.end(), [&](const ProviderConstraint::Item& item) {
      return item.comparator == Comparator::equal && item.version == version;
    });
  }

  // Any constraint may allow a prerelease for all of them.
  Why why_rejected(const ProviderConstraint& constraint, const ProviderVersion& version) const {
    const auto exact = ProviderConstraint::parse_locked(version.to_string());
    const std::array both = {constraint, is_named(version) && exact ? *exact : ProviderConstraint{}};
    if (ProviderConstraint::merge(both).allows(version)) {
      return std::nullopt;
    }
    if (!version.prerelease.empty() && !is_named(version)) {
      return std::string(kOnlyByName);
    }
    return fmt::format("\"{}\" excludes it", constraint.canonical());
  }

  template <typename WhyRejected>
  void add_step(ExplainedStep step, const WhyRejected& why_rejected_by) {
    std::vector<ProviderVersion> left;
    for (ProviderVersion& candidate : candidates_) {
      if (Why why = why_rejected_by(candidate)) {
        step.rejected.push_back({candidate.to_string(), std::move(*why)});
      } else {
        step.kept.push_back(candidate.to_string());
        left.push_back(std::move(candidate));
      }
    }
    candidates_ = std::move(left);
    out_.chain.push_back(std::move(step));
  }

  void explain_locked() {
    const auto range = lock_.provider_ranges.find(need_.address);
    ExplainedStep step{.constraint = "locked: " + locked_->version.to_string()};
    if (range != lock_.provider_ranges.end()) {
      step.location = Location{lock_path_, range->second};
    }
    add_step(std::move(step), [&](const ProviderVersion& version) -> Why {
      if (version == locked_->version) {
        return std::nullopt;
      }
      return compare(version, locked_->version) > 0 ? "newer; only upgrade selects it" : "older";
    });
    out_.selected.version = locked_->version.to_string();
    out_.selected.hashes = locked_->hashes;
    out_.selected.reason = locked_reason(locked_->constraints);
    const auto since = known_since_.find(locked_->version.to_string());
    if (since == known_since_.end()) {
      return;
    }
    out_.selected.first_seen = time_text(since->second);
    if (const auto young = age_exception(request_.limit_of(need_.address), since->second, std::nullopt, request_.now)) {
      out_.selected.reason +=
          fmt::format("; an exception from minimum_release_age: {}, but a locked version stays", *young);
    }
  }

  const ProviderPlanRequest& request_;
  const ProviderNeed& need_;
  const LockFile& lock_;
  const std::string& lock_path_;
  const ProviderLock* locked_ = nullptr;
  std::vector<ProviderVersion> candidates_;
  std::map<std::string, SourceFetcher::Time> known_since_;  // by version
  messages::LockExplainResult out_;
};

}  // namespace

Result<messages::LockExplainResult> explain_provider(const ProviderPlanRequest& request, const std::string& subject,
                                                     const LockFile& lock, const std::string& lock_path,
                                                     ProviderSource& source, const Context& context) {
  const std::string_view name = std::string_view(subject).substr(std::min(subject.find('.') + 1, subject.size()));
  const auto address = ProviderAddress::parse(name, default_registry(request.tool));
  const auto need = std::find_if(request.needs.begin(), request.needs.end(),
                                 [&](const ProviderNeed& one) { return address && one.address == *address; });
  if (need == request.needs.end()) {
    return fail(unknown_subject(subject, provider_subjects(request.needs, default_registry(request.tool))));
  }
  const auto listing = source.list_versions(need->address, context);
  MODLOCK_TRY(context.check());
  auto explained = ProviderExplainer(request, *need, lock, lock_path).run(listing, request.tool);
  explained.subject = subject;
  explained.source = name;
  return explained;
}

}  // namespace modlock
