#include "plugin/resolve/version_resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/release_age.h"
#include "protocol/base/result.h"

namespace modlock {

VersionResolver::VersionResolver(const PlanRequest& request, SourceFetcher& fetcher, const Context& context,
                                 const PlanFiles& files)
    : request_(request),
      fetcher_(fetcher),
      context_(context),
      files_(files),
      adopts_(is_first_lock(request, files)),
      former_locks_(has_module_entries(request.lock.modules) ? request.lock.modules : files.dropped().modules) {
  for (const auto& [key, entry] : former_locks_) {
    formers_by_source_.emplace(entry.source, &entry);
  }
}

void VersionResolver::start_walk() {
  must_restart_ = false;
  level_ = 0;
  met_.clear();
  renamed_.clear();
  resolved_.clear();
  unserved_.clear();
  frozen_out_.clear();
  held_.clear();
  diagnostics_.clear();
  for (auto& [key, group] : groups_) {
    group.decided = group.failed = group.locked = false;
    group.decision = {};
    group.outcome = {};
    group.locked_h1.clear();
    group.in_place.reset();
    group.is_stored = false;
  }
}

bool VersionResolver::is_target(const std::string& key) const {
  if (request_.mode != PlanMode::upgrade || request_.targets.empty()) {
    return request_.mode == PlanMode::upgrade;
  }
  return std::ranges::any_of(request_.targets, [&](const std::string& subject) {
    const std::string target = subject.substr(subject.find('.') + 1);
    return is_below(key, target);
  });
}

const ModuleLock* VersionResolver::prior(const ModuleNode& node) const {
  const std::string identity = node.address.source.identity();
  if (const auto* contested = find_in(request_.contested, node.key)) {
    return contested_prior(node, *contested);
  }
  const ModuleLock* entry = find_in(request_.lock.modules, node.key);
  if (entry != nullptr && entry->source == identity) {
    return entry;
  }
  if (request_.mode == PlanMode::frozen) {
    return nullptr;
  }
  if (const ModuleLock* former = renamed_from(node.key); former != nullptr && former->source == identity) {
    return former;
  }
  const ModuleLock* kept = entry != nullptr ? nullptr : find_in(files_.dropped().modules, node.key);
  const bool same = kept != nullptr && kept->source == identity && kept->constraints == node.constraints_text();
  return same ? kept : nullptr;
}

// Returns the entry that the call resolves to, if several match.
const ModuleLock* VersionResolver::contested_prior(const ModuleNode& node,
                                                   const std::vector<std::optional<ModuleLock>>& entries) const {
  const ResolvedModule* resolved = find_in(resolved_, node.key);
  const ModuleLock* prior = nullptr;
  for (const auto& entry : entries) {
    if (!entry || entry->source != node.address.source.identity()) {
      continue;
    }
    const bool is_chosen =
        resolved != nullptr && fetcher_.backend(node.address.source)->id_of(entry->hashes) == resolved->id;
    if (prior == nullptr || is_chosen) {
      prior = &*entry;
    }
  }
  return prior;
}

Result<void> VersionResolver::visit(std::span<ModuleNode* const> level) {
  for (auto& [key, group] : groups_) {
    group.level.clear();
  }
  ++level_;
  for (const ModuleNode* node : level) {
    met_.emplace(node->key, Met{node->address.source.identity(), level_});
  }
  std::vector<Group*> touched;
  for (ModuleNode* node : level) {
    if (node->address.source.is_directory()) {
      node->package_directory = node->address.source.path;
      continue;
    }
    if (fetcher_.backend(node->address.source) == nullptr) {
      unserved_.insert(node->key);
      continue;
    }
    if (request_.lock.modules.count(node->key) == 0 && files_.dropped().unreadable) {
      return fail(*files_.dropped().unreadable);
    }
    Group& group = groups_[version_group(*node, request_.resolution)];
    if (group.level.empty()) {
      touched.push_back(&group);
    }
    find_former_entry(*node);
    join(group, *node);
  }
  if (must_restart_) {
    return {};
  }
  for (Group* group : touched) {
    if (group->is_open()) {
      consult_lock(*group);
      if (auto allowed = group->locked ? check_allowed(*group) : Result<void>(); !allowed) {
        report(*group, std::move(allowed.error()));
      }
    }
  }
  run_fetch_tasks(touched);
  for (Group* group : touched) {
    if (!group->failed && !group->outcome) {
      report(*group, std::move(group->outcome.error()));
    }
  }
  if (request_.mode == PlanMode::frozen) {
    name_open_calls(touched);
  }
  for (Group* group : touched) {
    if (!group->decided || group->failed) {
      continue;
    }
    if (auto ok = take_package(*group); !ok) {
      report(*group, std::move(ok.error()));
    }
  }
  return context_.check();
}

void VersionResolver::join(Group& group, ModuleNode& node) {
  group.level.push_back(&node);
  for (const ConstraintUse& use : node.constraints) {
    group.uses.insert_or_assign(use.key + "\n" + use.constraint.text(), use);
  }
  if (const Version* wanted = find_in(request_.wanted, node.key)) {
    if (auto exact = ModuleConstraint::parse(wanted->to_string())) {
      group.uses.insert_or_assign(node.key,
                                  ConstraintUse{std::move(*exact), node.key, Location{"the requested version", {}}});
    }
  }
  bool changes = group.decided && !fits(group, group.decision.version);
  if (const auto age = age_limit(request_.walk.settings, node.address.source).minimum(); age > group.minimum_age) {
    group.minimum_age = age;
    changes = changes || !group.locked;
  }
  if (!group.upgrade && is_target(node.key)) {
    group.upgrade = true;
    changes = true;
  }
  if (!group.accepts_moved && request_.accepts_moved(node.subject())) {
    group.accepts_moved = true;
    changes = changes || !group.offered.empty();
    group.offered.clear();
  }
  if (adopts_ && !is_target(node.key) && !recorded_.contains(node.key)) {
    recorded_.emplace(node.key, files_.find_record(node));
  }
  if (const InstalledRecord* installed = recorded(node.key);
      installed != nullptr && node.address.source.has_commits() && chooses_version(node) &&
      group.commits.insert(installed->commit).second) {
    changes = changes || (!group.upgrade && group.decision.id != installed->commit);
  }
  for (const Locked& candidate : locked_candidates(node)) {
    if (group.upgrade && find_denial_of(node, candidate.resolved, candidate.h1) != nullptr) {
      continue;
    }
    const std::string version = candidate.resolved.version ? candidate.resolved.version->to_string() : "";
    if (!group.candidates.emplace(node.key + "\n" + version, candidate).second) {
      continue;
    }
    const bool better = !group.locked || group.decision.version < candidate.resolved.version;
    changes = changes || (!group.upgrade && better && fits(group, candidate.resolved.version));
  }
  must_restart_ = must_restart_ || (group.decided && changes);
}

bool VersionResolver::fits(const Group& group, const std::optional<Version>& version) {
  return std::ranges::all_of(group.uses,
                             [&](const auto& entry) { return !version || entry.second.constraint.allows(*version); });
}

std::vector<VersionResolver::Locked> VersionResolver::locked_candidates(const ModuleNode& node) const {
  const auto* contested = find_in(request_.contested, node.key);
  std::vector<Locked> candidates;
  if (contested == nullptr) {
    const ModuleLock* entry = prior(node);
    if (auto candidate = entry == nullptr ? recorded_candidate(node) : locked_candidate(node, *entry)) {
      candidates.push_back(std::move(*candidate));
    }
    return candidates;
  }
  for (const auto& entry : *contested) {
    if (auto candidate = entry ? locked_candidate(node, *entry) : std::nullopt) {
      candidates.push_back(std::move(*candidate));
    }
  }
  // Commits have no order.
  const auto content = [](const Locked& candidate) {
    return candidate.resolved.id.empty() ? candidate.h1 : candidate.resolved.id;
  };
  const bool differ = std::ranges::any_of(
      candidates, [&](const Locked& candidate) { return content(candidate) != content(candidates.front()); });
  if (!chooses_version(node) && differ) {
    candidates.clear();
  }
  return candidates;
}

std::optional<VersionResolver::Locked> VersionResolver::locked_candidate(const ModuleNode& node,
                                                                         const ModuleLock& entry) const {
  if (why_not_answered(node, entry)) {
    return std::nullopt;
  }
  Locked locked{.resolved = {.id = fetcher_.backend(node.address.source)->id_of(entry.hashes)},
                .h1 = entry.hash_value("h1")};
  if (!chooses_version(node)) {
    // What is fetched without an id is compared with the h1. Under frozen, the missing id is the error.
    const bool h1_decides =
        request_.mode != PlanMode::frozen && !node.address.source.has_commits() && !locked.h1.empty();
    return locked.resolved.id.empty() && !h1_decides ? std::nullopt : std::optional(locked);
  }
  auto version = Version::parse(*entry.version);
  if (!version) {
    return std::nullopt;
  }
  if (node.address.source.is_registry()) {
    locked.resolved.ref = version->to_string();
  }
  locked.resolved.version = std::move(*version);
  return locked;
}

// Selects the highest locked version of the group that all its constraints allow.
bool VersionResolver::decide_from_lock(Group& group) {
  for (const auto& [key, candidate] : group.candidates) {
    const bool better = !group.locked || group.decision.version < candidate.resolved.version;
    if (better && fits(group, candidate.resolved.version)) {
      group.locked = true;
      group.decision = candidate.resolved;
      group.locked_h1 = candidate.h1;
    }
  }
  return group.locked;
}

// An installed package with the locked h1 is as good as one in the store, and needs no request. It is not added to the
// store, because its source has to prove an id there.
void VersionResolver::find_at_hand(Group& group) const {
  group.is_stored =
      !group.decision.id.empty() && fetcher_.stored(group.level.front()->address.source, fetch_request_for(group));
  if (group.decision.id.empty() || group.locked_h1.empty() || group.is_stored) {
    return;
  }
  for (const ModuleNode* node : group.level) {
    group.in_place = files_.find_package(*node, "h1:" + group.locked_h1);
    if (group.in_place) {
      return;
    }
  }
}

// Returns whether locked versions stay and their tags are resolved again.
bool VersionResolver::asks_tags_again() const {
  return request_.mode == PlanMode::missing && request_.accept_moved;
}

void VersionResolver::forget_id(Group& group) {
  group.decision.id.clear();
  group.locked_h1.clear();
  if (!group.decision.version) {
    group.decision = {};
    group.locked = false;
  }
}

void VersionResolver::consult_lock(Group& group) const {
  const bool keeps_locked = !group.upgrade || !group.offered.empty();
  if (keeps_locked && decide_from_lock(group)) {
    asks_tags_again() && group.offered.empty() ? forget_id(group) : find_at_hand(group);
  } else {
    group.failed = request_.mode == PlanMode::frozen;
  }
}

// All constraints on a source are known, so that sources are independent: none waits for the listing of another.
// Decisions and errors are combined afterwards, in the order of the calls.
void VersionResolver::run_fetch_tasks(const std::vector<Group*>& touched) {
  std::map<std::string, std::vector<Group*>> by_source;
  for (Group* group : touched) {
    by_source[SourceFetcher::package_key(group->level.front()->address)].push_back(group);
  }
  fetcher_.run(mapped(by_source, [this](const auto& source) { return task_of(source.second); }));
}

// Under frozen: records the calls that have no matching lock entry, and why.
void VersionResolver::name_open_calls(const std::vector<Group*>& touched) {
  for (const Group* group : touched) {
    for (const ModuleNode* node : group->failed ? group->level : std::vector<ModuleNode*>{}) {
      const ModuleLock* entry = find_in(request_.lock.modules, node->key);
      const ModuleLock* former = renamed_from(node->key);
      frozen_out_.emplace(node->key, former != nullptr  ? "it was module." + former->key
                                     : entry == nullptr ? "not locked"
                                                        : why_open(*group, *node, *entry));
    }
  }
}

std::string VersionResolver::why_open(const Group& group, const ModuleNode& node, const ModuleLock& entry) const {
  if (auto reason = why_not_answered(node, entry)) {
    return std::move(*reason);
  }
  if (!fits(group, entry.parsed_version())) {
    return "its version does not satisfy the other calls of the source";
  }
  const std::string hash = missing_hash(entry, node.address.source, fetcher_.backend(node.address.source));
  return hash.empty() ? "its entry cannot be used" : "hashes were missing: " + hash;
}

// Requests a listing for calls whose version must be chosen, and for locked packages that are not in the store if the
// fetch needs their tag.
SourceFetcher::FetchTask VersionResolver::task_of(const std::vector<Group*>& groups) const {
  SourceFetcher::FetchTask task{.choose = [this, &groups] { return choose(groups); }};
  for (const Group* group : groups) {
    const ModuleNode& node = *group->level.front();
    if (!group->is_open() || (group->locked && !needs_locked_listing(*group))) {
      continue;
    }
    if (chooses_version(node)) {
      task.listings.push_back({&node.address, node.tag_prefix});
    } else if (!node.commit && !group->locked && !node.address.source.named_id().empty()) {
      task.pins.push_back(&node.address);
    }
  }
  return task;
}

// Called on any thread, once for each group: modifies only these groups.
std::vector<SourceFetcher::PackageRequest> VersionResolver::choose(const std::vector<Group*>& groups) const {
  std::vector<SourceFetcher::PackageRequest> fetch_requests;
  for (Group* group : groups) {
    if (group->is_open()) {
      group->outcome = group->locked ? complete_locked(*group) : decide_from_origin(*group);
      if (group->outcome) {
        group->outcome = check_allowed(*group);
      }
      group->decided = group->outcome.has_value();
    }
    if (group->decided && !group->failed && !group->in_place) {
      fetch_requests.push_back({&group->level.front()->address, fetch_request_for(*group)});
    }
  }
  return fetch_requests;
}

// Returns the rule that denies a release of a call; null: none.
const DenyRule* VersionResolver::find_denial_of(const ModuleNode& node, const ResolvedModule& release,
                                                const std::string& h1) const {
  const auto& rules = request_.walk.settings.deny_rules;
  if (rules.empty()) {
    return nullptr;
  }
  const Backend* backend = fetcher_.backend(node.address.source);
  const std::vector<std::string> hashes = {backend->id_hash(release.id), h1};
  return find_denial(std::span(rules), node.address.source, release.version, hashes);
}

// Checks the decision of a group for each call of the level. Errors: RELEASE_DENIED.
Result<void> VersionResolver::check_allowed(const Group& group) const {
  const ResolvedModule& decision = group.decision;
  const std::string h1 = decision.h1.empty() && !group.locked_h1.empty() ? "h1:" + group.locked_h1 : decision.h1;
  for (const ModuleNode* node : group.level) {
    if (const DenyRule* rule = find_denial_of(*node, decision, h1)) {
      const std::string origin =
          decision.id.empty() ? std::string() : fetcher_.backend(node->address.source)->id_hash(decision.id);
      return fail(denied_release(*rule,
                                 locked_text(decision.version_text(), node->address.source.named_reference(), origin),
                                 node->address.source.package_identity(), node->subject(),
                                 reselect_command(node->address.source.identity(), node->subject())));
    }
  }
  return {};
}

ReleaseGate VersionResolver::gate_of(const Group& group) const {
  const ModuleNode& node = *group.level.front();
  const bool is_named = names_one_version(values_of(group.uses));
  return {.minimum = is_named ? std::chrono::seconds(0) : group.minimum_age,
          .now = fetcher_.now(),
          .known_since = fetcher_.known_since(node.address, node.tag_prefix),
          .is_locked =
              [&group](const ListedVersion& listed) {
                return std::ranges::any_of(group.candidates, [&](const auto& candidate) {
                  const ResolvedModule& locked = candidate.second.resolved;
                  return locked.version == listed.version && (listed.id.empty() || locked.id == listed.id);
                });
              },
          .find_denial = [this, &group](const ListedVersion& listed) -> const DenyRule* {
            if (const DenyRule* const* known = find_in(group.denied, listed.version.to_string())) {
              return *known;
            }
            for (const ModuleNode* member : group.level) {
              if (const DenyRule* rule =
                      find_denial_of(*member, {.version = listed.version, .ref = listed.ref, .id = listed.id}, "")) {
                return rule;
              }
            }
            return nullptr;
          }};
}

Result<void> VersionResolver::decide_from_origin(Group& group) const {
  const ModuleNode& node = *group.level.front();
  if (node.commit) {
    group.decision = {.id = *node.commit};
    return {};
  }
  if (!chooses_version(node) && node.address.source.named_id().empty()) {
    group.decision = {.ref = node.address.source.named_reference()};
    return {};
  }
  if (!chooses_version(node)) {
    const auto& pin = fetcher_.pinned(node.address.source);
    if (!pin) {
      Error error = pin.error();
      error.reason = prior(node) != nullptr ? Reason::locked_thing_gone : error.reason;
      return fail(std::move(error));
    }
    group.decision = {.ref = pin->ref, .id = pin->id};
    return {};
  }
  const auto& listing = fetcher_.listing(node.address, node.tag_prefix);
  if (!listing) {
    return fail(listing.error());
  }
  const std::string package = node.address.source.package_identity();
  const ListedVersion* installed = find_installed_version(group, *listing);
  MODLOCK_TRY(auto selected,
              installed != nullptr
                  ? check_unambiguous(*installed, values_of(group.uses), package, installed->ambiguous_with)
                  : select_version(*listing, values_of(group.uses), package, gate_of(group)));
  group.decision = {.version = selected.version, .ref = selected.ref, .id = selected.id};
  return {};
}

// A digest proves its content, and a registry resolves the version. A git commit must be reachable from a branch or
// tag, and its former tag is the cheapest proof.
bool VersionResolver::needs_locked_listing(const Group& group) const {
  const Source& source = group.level.front()->address.source;
  const bool unknown_id = group.decision.id.empty() && !source.is_registry();
  return (unknown_id || source.has_commits()) && !group.in_place && !group.is_stored;
}

// If a locked version has a listing (it is not in the store), looks up its tag, and its id if the lock has none.
Result<void> VersionResolver::complete_locked(Group& group) const {
  const ModuleNode& node = *group.level.front();
  if (!group.decision.version) {
    const std::string ref = node.address.source.named_reference();
    if (ref.empty() && node.address.source.has_commits()) {
      group.decision.ref = node.commit ? "" : "HEAD";
    } else if (ref != group.decision.id) {
      group.decision.ref = ref;
    }
    return {};
  }
  if (node.address.source.is_registry()) {
    group.decision.ref = group.decision.version->to_string();
    return {};
  }
  if (!needs_locked_listing(group)) {
    return {};
  }
  const auto& listing = fetcher_.listing(node.address, node.tag_prefix);
  if (!listing) {
    return fail(explain_fetch(group, listing.error()));
  }
  if (const ListedVersion* listed = find_listed(*listing, group.decision.version->to_string())) {
    group.decision.ref = listed->ref;
    if (group.decision.id.empty()) {
      group.decision.id = listed->id;
    }
    return {};
  }
  if (!group.decision.id.empty()) {
    return {};
  }
  return fail(Error{.code = Code::not_found,
                    .message = fmt::format(
                        "version {} of \"{}\" is locked for module \"{}\" without an id, and its tag no longer exists",
                        group.decision.version->to_string(), node.address.source.package_identity(), node.key),
                    .hint = "choose another version with: " + tofu_modlock("upgrade", "--target", node.subject()),
                    .reason = Reason::locked_thing_gone});
}

void VersionResolver::report(Group& group, Error error) {
  group.failed = true;
  const ModuleNode& node = *group.level.front();
  error.subject = error.subject.empty() ? node.subject() : error.subject;
  error.location = error.location ? error.location : node.call.source.location;
  diagnostics_.push_back({Severity::error, std::move(error)});
}

}  // namespace modlock
