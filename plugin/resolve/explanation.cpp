#include "plugin/resolve/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/provider_selection.h"
#include "plugin/resolve/release_age.h"
#include "plugin/resolve/signatures.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using Why = std::optional<std::string>;

bool is_newer(const Version& left, const Version& right) {
  return left > right;
}
bool is_newer(const ProviderVersion& left, const ProviderVersion& right) {
  return compare(left, right) > 0;
}

// The steps of an explanation. Each leaves fewer versions of the listing.
template <typename AnyVersion>
class Explainer {
 protected:
  // A version that no step has rejected yet.
  struct Candidate {
    AnyVersion version;
    std::optional<SourceFetcher::Time> known_since = {};
    std::optional<std::string> deprecated = {};  // the reason
    std::string id = {};
  };

  template <typename WhyRejected>
  void add_step(ExplainedStep step, const WhyRejected& why_rejected) {
    std::vector<Candidate> left;
    for (Candidate& candidate : candidates_) {
      const std::string text = candidate.version.to_string();
      if (Why why = why_rejected(candidate)) {
        step.rejected.push_back({text, std::move(*why)});
      } else {
        step.kept.push_back(text);
        left.push_back(std::move(candidate));
      }
    }
    candidates_ = std::move(left);
    out_.chain.push_back(std::move(step));
  }

  void name_unknown_versions(Error error) {
    error.message = "the versions are not known: " + error.message;
    out_.diagnostics.push_back(as_warning(std::move(error)));
  }

  // `of`: the source or the provider.
  template <typename Of, typename HashesOf>
  void explain_denied(std::span<const DenyRule> rules, const Of& of, const HashesOf& hashes_of) {
    for (const DenyRule& rule : rules) {
      if (rule.releases.source.matches(of)) {
        add_step({.constraint = fmt::format("deny \"{}\"", rule.releases.source.text()), .location = rule.location},
                 [&](const Candidate& candidate) {
                   const std::vector<std::string> hashes = hashes_of(candidate);
                   return rule.releases.matches(of, candidate.version, hashes) ? Why(rule.text()) : std::nullopt;
                 });
      }
    }
  }

  template <typename IsExempt>
  void explain_age(const AgeLimit& limit, SourceFetcher::Time now, const IsExempt& is_exempt) {
    const auto age = limit.minimum();
    if (age.count() == 0) {
      return;
    }
    add_step({.constraint = "minimum_release_age = \"" + age_text(age) + "\"",
              .location = limit.rule == nullptr ? std::nullopt : std::optional(limit.rule->location)},
             [&](const Candidate& candidate) {
               const auto since = candidate.known_since.value_or(now);
               const bool is_kept = is_exempt(candidate.version) || now - since >= age;
               return is_kept ? std::nullopt : Why(youth_text(since, now));
             });
  }

  // The version stays even if newer ones exist; `selector` selects those.
  void explain_kept(ExplainedStep step, const AnyVersion& kept, std::string_view selector) {
    add_step(std::move(step), [&](const Candidate& candidate) -> Why {
      if (candidate.version.to_string() == kept.to_string()) {
        return std::nullopt;
      }
      return is_newer(candidate.version, kept) ? fmt::format("newer; only {} selects it", selector) : "older";
    });
  }

  std::vector<Candidate> candidates_ = {};
  messages::LockExplainResult out_ = {};
};

constexpr std::string_view kOnlyByName = "a prerelease is chosen only if a constraint names it exactly";

// Returns why one constraint does not select a version; nullopt: it does.
Why why_rejected(const ModuleConstraint& constraint, const Version& version) {
  if (constraint.selects(version)) {
    return std::nullopt;
  }
  std::string_view items = constraint.text();
  while (!constraint.allows(version) && !items.empty()) {
    const std::string item(items.substr(0, items.find(", ")));
    items.remove_prefix(std::min(item.size() + 2, items.size()));
    const auto one = ModuleConstraint::parse(item);
    if (one && !one->allows(version)) {
      const bool is_prerelease = !version.prerelease().empty() && one->text().find('-') == std::string::npos;
      return fmt::format("\"{}\" excludes it{}", one->text(), is_prerelease ? ", as every prerelease" : "");
    }
  }
  return std::string(kOnlyByName);
}

class ModuleExplainer : Explainer<Version> {
 public:
  ModuleExplainer(const ExplainRequest& request, SourceFetcher& fetcher, const ModuleNode& node)
      : request_(request), fetcher_(fetcher), node_(node) {
    out_.subject = request.subject;
    out_.source = node.address.source.identity();
  }

  std::optional<messages::LockExplainResult> run_conflict() {
    const ResolvedModule* resolved = find_in(request_.plan.resolved, node_.key);
    if (resolved == nullptr || !resolved->version) {
      return std::nullopt;
    }
    list_candidates(*resolved);
    explain_constraints();
    if (!candidates_.empty()) {
      return std::nullopt;
    }
    out_.selected = {.reason =
                         "no version satisfies all constraints of the calls that share it; change one of them, or set "
                         "resolution = \"per-call\" in .tofu-modlock.hcl"};
    return std::move(out_);
  }

  messages::LockExplainResult run(const Context& context) {
    messages::Selected& selected = out_.selected;
    lock_ = find_in(request_.plan.modules, node_.key);
    const ResolvedModule* resolved = find_in(request_.plan.resolved, node_.key);
    if (lock_ == nullptr || resolved == nullptr) {
      selected.reason = node_.is_local() ? "it is part of the module that calls it, and nothing is locked"
                                         : "sources of this type are not locked";
      return std::move(out_);
    }
    selected.version = lock_->version;
    selected.ref = resolved->ref;
    selected.commit = lock_->hash_value("git");
    selected.digest = lock_->hash_value("oci");
    selected.hashes = lock_->hashes;
    const Backend* const backend = fetcher_.backend(node_.address.source);
    selected.answered_by = backend == nullptr ? std::string() : backend->answered_by();
    first_seen_ = fetcher_.first_seen(node_.address.source, resolved->ref, resolved->id);
    claimed_ = fetcher_.claimed(node_.address.source, resolved->ref, resolved->id);
    if (chooses_version(node_) && !node_.commit) {
      explain_version(*resolved);
    } else {
      explain_reference();
    }
    explain_choice();
    name_signers(*resolved, context);
    selected.first_seen = first_seen_ ? time_text(*first_seen_) : "";
    selected.claimed = claimed_ ? time_text(*claimed_) : "";
    return std::move(out_);
  }

 private:
  const Change* change() const { return find_by(request_.plan.changes, node_.subject(), &Change::subject); }

  // Returns whether the locked version stays. If not, there is a change that says so.
  bool is_locked() const {
    const Change* changed = change();
    return changed == nullptr || changed->action == Action::restored || changed->action == Action::renamed ||
           changed->action == Action::hashes_added || changed->action == Action::constraints_changed ||
           changed->action == Action::reordered;
  }

  // Returns the subject of the lock entry before the call was renamed; empty: the call was not renamed.
  std::string former_subject() const {
    const Change* changed = change();
    return changed == nullptr ? "" : changed->previous_subject;
  }

  void explain_version(const ResolvedModule& resolved) {
    list_candidates(resolved);
    explain_constraints();
    if (node_.constraints.empty()) {
      add_step({.constraint = "any release", .subject = node_.subject(), .location = node_.call.source.location},
               [](const Candidate& candidate) {
                 return candidate.version.prerelease().empty()
                            ? std::nullopt
                            : std::optional<std::string>("a prerelease is chosen only if a constraint names it");
               });
    }
    const Settings& settings = request_.plan_request.walk.settings;
    explain_denied(settings.deny_rules, node_.address.source, [this](const Candidate& candidate) {
      return std::vector{fetcher_.backend(node_.address.source)->id_hash(candidate.id)};
    });
    explain_age(age_limit(settings, node_.address.source), fetcher_.now(), [&](const Version& version) {
      return version == *resolved.version || names_one_version(node_.constraints);
    });
    explain_deprecated(resolved);
    explain_kept_module(resolved);
  }

  void explain_constraints() {
    for (const ConstraintUse& use : shared_constraints(request_.plan.tree, node_, request_.plan_request.resolution)) {
      add_step({.constraint = use.constraint.text(), .subject = "module." + use.key, .location = use.location},
               [&](const Candidate& candidate) { return why_rejected(use.constraint, candidate.version); });
    }
  }

  void list_candidates(const ResolvedModule& resolved) {
    fetcher_.list(std::array{SourceFetcher::ListingRequest{&node_.address, node_.tag_prefix}});
    const auto& listing = fetcher_.listing(node_.address, node_.tag_prefix);
    if (!listing) {
      candidates_.push_back({*resolved.version, first_seen_});
      name_unknown_versions(listing.error());
      return;
    }
    const auto& since = fetcher_.known_since(node_.address, node_.tag_prefix);
    for (std::size_t i = 0; i < listing->versions.size(); ++i) {
      const ListedVersion& listed = listing->versions[i];
      candidates_.push_back({listed.version, since[i], listed.deprecated, listed.id});
      // A locked package that is available was not looked up.
      if (out_.selected.ref.empty() && listed.version.to_string() == resolved.version->to_string()) {
        out_.selected.ref = listed.ref;
      }
    }
    // Only now is it certain that it was seen.
    first_seen_ = fetcher_.first_seen(node_.address.source, out_.selected.ref, resolved.id);
  }

  void explain_deprecated(const ResolvedModule& resolved) {
    const bool all = std::ranges::all_of(candidates_, [](const auto& one) { return one.deprecated.has_value(); });
    const bool any = std::ranges::any_of(candidates_, [](const auto& one) { return one.deprecated.has_value(); });
    if (all || !any) {
      return;
    }
    add_step({.constraint = "not deprecated by the registry"}, [&](const Candidate& candidate) -> Why {
      if (!candidate.deprecated || candidate.version == *resolved.version) {
        return std::nullopt;
      }
      return candidate.deprecated->empty() ? "deprecated" : "deprecated: " + *candidate.deprecated;
    });
  }

  // The locked version, or the installed one of a first lock, stays even if newer ones exist.
  void explain_kept_module(const ResolvedModule& resolved) {
    const Change* changed = change();
    const bool is_adopted = changed != nullptr && changed->action == Action::adopted;
    if (!is_locked() && !is_adopted) {
      return;
    }
    ExplainedStep step = kept_step();
    if (is_adopted) {
      step = {.constraint = "installed: " + resolved.version->to_string()};
    }
    explain_kept(std::move(step), *resolved.version, is_adopted ? "--no-adopt" : "upgrade");
  }

  ExplainedStep kept_step() const {
    const LockFile& lock = request_.plan_request.lock;
    const std::string former = former_subject();
    const Range* range = find_in(lock.module_ranges, former.empty() ? node_.key : former.substr(7));
    return {.constraint = fmt::format("locked{}: {}", former.empty() ? "" : " as " + former,
                                      lock_->version.value_or(lock_->origin_hash())),
            .location = range == nullptr ? std::nullopt : std::optional(Location{request_.lock_path, *range})};
  }

  void explain_reference() {
    const Source& source = node_.address.source;
    const std::string named = source.named_reference();
    const std::string id = lock_->origin_hash();
    std::string constraint = "the content at the address";
    if (node_.commit) {
      constraint = *node_.commit;
    } else if (!named.empty()) {
      constraint = named;
    } else if (!source.named_id().empty()) {
      constraint = source.named_id();
    } else if (source.has_commits()) {
      constraint = "the default branch";
    } else if (source.has_tags()) {
      constraint = source.traits().default_reference;
    }
    out_.chain.push_back({.constraint = std::move(constraint),
                          .subject = node_.subject(),
                          .location = node_.commit ? place_of_commit() : node_.call.source.location,
                          .kept = {id}});
    if (is_locked()) {
      ExplainedStep step = kept_step();
      step.kept = {id};
      out_.chain.push_back(std::move(step));
    }
  }

  void name_signers(const ResolvedModule& resolved, const Context& context) {
    SignatureCheck check(request_.plan_request.walk.settings, fetcher_, context);
    auto signers = check.verify(node_, lock_->version, resolved.id);
    if (signers) {
      out_.selected.signers = std::move(*signers);
    } else {
      out_.diagnostics.push_back({Severity::warning, std::move(signers.error())});
    }
    append(out_.diagnostics, check.warnings());
  }

  // Returns the location of the commit that replaces a constraint.
  Location place_of_commit() const {
    if (node_.call.version) {
      return node_.call.version->location;
    }
    const ModuleRule* rule = find_in(request_.plan_request.walk.settings.modules, node_.key);
    return rule != nullptr && rule->version ? rule->version->location : node_.call.source.location;
  }

  void explain_choice() {
    const Change* changed = change();
    const bool is_version = lock_->version.has_value();
    if (is_locked()) {
      const std::string former = former_subject();
      const std::string as = former.empty() ? "" : " as " + former;
      const ModuleLock* entry =
          find_in(request_.plan_request.lock.modules, former.empty() ? node_.key : former.substr(7));
      const std::string& named = out_.chain.front().constraint;
      out_.selected.reason = is_version ? locked_reason(entry == nullptr ? "" : entry->constraints.value_or(""), as)
                             : lock_->origin_hash().ends_with(named)
                                 ? "the configuration names it"
                                 : fmt::format("it was {} when it was locked{}", named, as);
      out_.selected.reason += former.empty() ? "" : "; run tofu-modlock lock to rename the entry";
    } else if (changed->action == Action::adopted) {
      out_.selected.reason = "it is installed, and nothing is locked yet";
    } else {
      out_.selected.reason =
          is_version ? "it is the newest remaining version" : "it is the current content of the source";
    }
    const auto young = first_seen_ ? age_exception(age_limit(request_.plan_request.walk.settings, node_.address.source),
                                                   *first_seen_, claimed_, fetcher_.now())
                                   : std::nullopt;
    if (young) {
      out_.selected.reason += fmt::format("; an exception from minimum_release_age: {}, but {}", *young,
                                          is_locked() ? "a locked version stays" : why_taken(*changed, node_));
    }
  }

  const ExplainRequest& request_;
  SourceFetcher& fetcher_;
  const ModuleNode& node_;
  const ModuleLock* lock_ = nullptr;  // of the plan
  std::optional<SourceFetcher::Time> first_seen_;
  std::optional<SourceFetcher::Time> claimed_;  // by its publisher
};

class ProviderExplainer : Explainer<ProviderVersion> {
 public:
  ProviderExplainer(const ProviderPlanRequest& request, const ProviderNeed& need, const LockFile& lock,
                    const std::string& lock_path)
      : request_(request),
        need_(need),
        lock_(lock),
        lock_path_(lock_path),
        locked_(find_in(request.locked, need.address)) {}

  messages::LockExplainResult run(const Result<ProviderListing>& listing, ClientKind tool) {
    take_candidates(listing);
    for (const ProviderConstraintUse& use : need_.constraints) {
      add_step({.constraint = use.text,
                .subject = use.module.empty() ? "" : "module." + use.module,
                .location = use.location},
               [&](const Candidate& candidate) { return why_rejected(use.constraint, candidate.version); });
    }
    if (need_.constraints.empty()) {
      add_step({.constraint = "any release", .location = need_.location},
               [&](const Candidate& candidate) { return why_rejected({}, candidate.version); });
    }
    explain_denied(request_.settings.deny_rules, need_.address,
                   [](const Candidate&) { return std::vector<std::string>(); });
    explain_age(request_.limit_of(need_.address), request_.now, [this](const ProviderVersion& version) {
      return (locked_ != nullptr && version == locked_->version) || exact_constraint(need_) != nullptr;
    });
    if (locked_ != nullptr && !need_.merged.allows(locked_->version)) {
      out_.diagnostics.push_back({Severity::warning, excluded_version(need_, locked_->version, tool)});
      out_.selected.reason = fmt::format("the locked version {} is excluded", locked_->version.to_string());
    } else if (locked_ != nullptr) {
      explain_locked();
    } else if (candidates_.empty()) {
      out_.selected.reason = "no version is left";
    } else {
      out_.selected.version = candidates_.front().version.to_string();
      out_.selected.reason = "it is the newest remaining version";
    }
    return std::move(out_);
  }

 private:
  void take_candidates(const Result<ProviderListing>& listing) {
    if (!listing) {
      name_unknown_versions(listing.error());
      if (locked_ != nullptr) {
        candidates_.push_back({locked_->version});
      }
      return;
    }
    for (std::size_t i = 0; i < listing->versions.size(); ++i) {
      candidates_.push_back({listing->versions[i], listing->known_since[i]});
    }
    const auto found =
        locked_ == nullptr ? listing->versions.end() : std::ranges::find(listing->versions, locked_->version);
    if (found != listing->versions.end()) {
      locked_since_ = listing->known_since[static_cast<std::size_t>(found - listing->versions.begin())];
    }
  }

  bool is_named(const ProviderVersion& version) const {
    const auto& items = need_.merged.items();
    return std::ranges::any_of(items, [&](const ProviderConstraint::Item& item) {
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

  void explain_locked() {
    ExplainedStep step{.constraint = "locked: " + locked_->version.to_string()};
    if (const Range* range = find_in(lock_.provider_ranges, need_.address)) {
      step.location = Location{lock_path_, *range};
    }
    explain_kept(std::move(step), locked_->version, "upgrade");
    out_.selected.version = locked_->version.to_string();
    out_.selected.hashes = locked_->hashes;
    out_.selected.reason = locked_reason(locked_->constraints);
    if (!locked_since_) {
      return;
    }
    out_.selected.first_seen = time_text(*locked_since_);
    if (const auto young =
            age_exception(request_.limit_of(need_.address), *locked_since_, std::nullopt, request_.now)) {
      out_.selected.reason +=
          fmt::format("; an exception from minimum_release_age: {}, but a locked version stays", *young);
    }
  }

  const ProviderPlanRequest& request_;
  const ProviderNeed& need_;
  const LockFile& lock_;
  const std::string& lock_path_;
  const ProviderLock* const locked_;
  std::optional<SourceFetcher::Time> locked_since_;
};

const ModuleNode* node_of(const ExplainRequest& request) {
  const std::string& subject = request.subject;
  return subject.starts_with("module.") ? find_in(request.plan.tree.nodes, subject.substr(7)) : nullptr;
}

}  // namespace

std::string locked_reason(const std::string& constraints, const std::string& as) {
  const std::string reason = constraints.empty() ? "without a constraint" : fmt::format("for \"{}\"", constraints);
  return fmt::format("it was selected {} when it was locked{}, and the constraints allow it", reason, as);
}

std::optional<messages::LockExplainResult> explain_conflict(const ExplainRequest& request, SourceFetcher& fetcher) {
  const ModuleNode* node = node_of(request);
  return node == nullptr ? std::nullopt : ModuleExplainer(request, fetcher, *node).run_conflict();
}

Result<messages::LockExplainResult> explain(const ExplainRequest& request, SourceFetcher& fetcher,
                                            const Context& context) {
  MODLOCK_TRY(context.check());
  const ModuleNode* node = node_of(request);
  return node != nullptr ? Result<messages::LockExplainResult>(ModuleExplainer(request, fetcher, *node).run(context))
                         : fail(unknown_subject(request.subject, module_subjects(request.plan.tree)));
}

Result<messages::LockExplainResult> explain_provider(const ProviderPlanRequest& request, const std::string& subject,
                                                     const LockFile& lock, const std::string& lock_path,
                                                     ProviderSource& source, const Context& context) {
  const std::string_view name = std::string_view(subject).substr(std::min(subject.find('.') + 1, subject.size()));
  const auto address = ProviderAddress::parse(name, default_registry(request.tool));
  const ProviderNeed* need = address ? find_by(request.needs, *address, &ProviderNeed::address) : nullptr;
  if (need == nullptr) {
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
