#include "plugin/resolve/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/changes.h"
#include "plugin/resolve/locked_tags.h"
#include "plugin/resolve/release_age.h"
#include "plugin/resolve/signatures.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using Calls = std::vector<const ModuleNode*>;

bool all_allow(const Calls& calls, const Version& version) {
  return std::ranges::all_of(calls, [&](const ModuleNode* node) {
    return std::ranges::all_of(node->constraints,
                               [&](const ConstraintUse& use) { return use.constraint.allows(version); });
  });
}

bool could_share(const Calls& calls, const std::vector<Version>& taken, const Listing* listing) {
  const bool among_taken =
      std::ranges::any_of(taken, [&](const Version& version) { return all_allow(calls, version); });
  return among_taken || (listing != nullptr && std::ranges::any_of(listing->versions, [&](const ListedVersion& listed) {
                           return all_allow(calls, listed.version);
                         }));
}

Diagnostic warning(const std::string& package, const Calls& calls) {
  Error error{.code = Code::constraint_conflict,
              .message = fmt::format("{} calls of \"{}\" get different versions: none satisfies all of their "
                                     "constraints",
                                     calls.size(), package),
              .subject = calls.front()->subject(),
              .location = calls.front()->call.source.location,
              .hint =
                  "like OpenTofu, tofu-modlock resolves each registry call separately; --resolution unified makes this "
                  "an error"};
  for (const ModuleNode* node : calls) {
    error.related.push_back(
        {fmt::format("module \"{}\" requires version \"{}\"", node->key, node->constraints_text().value_or("any")),
         node->call.version ? node->call.version->location : node->call.source.location});
  }
  return {Severity::warning, std::move(error)};
}

// Returns one CONSTRAINT_CONFLICT warning for each registry module whose calls OpenTofu resolves separately (resolution
// "auto") because no version satisfies all of them. The warning names every call with its constraint. Checked against
// the listing if this run requested it, or else against the selected versions.
Diagnostics warn_of_unshared_versions(const ModuleTree& tree,
                                      const std::map<std::string, ResolvedModule, std::less<>>& resolved,
                                      const SourceFetcher& fetcher) {
  std::map<std::string, Calls> by_package;
  for (const auto& [key, node] : tree.nodes) {
    if (node.address.source.is_registry() && resolved.contains(key)) {
      by_package[node.address.source.package_identity()].push_back(&node);
    }
  }
  Diagnostics warnings;
  for (const auto& [package, calls] : by_package) {
    std::vector<Version> taken;
    for (const ModuleNode* node : calls) {
      if (const auto& version = resolved.find(node->key)->second.version) {
        taken.push_back(*version);
      }
    }
    if (!could_share(calls, taken, fetcher.known_listing(calls.front()->address))) {
      warnings.push_back(warning(package, calls));
    }
  }
  return warnings;
}

// A source that no backend serves stays unchanged. An entry of a machine with the backend locks its call.
void name_unserved_calls(const PlanRequest& request, const VersionResolver& resolver, Plan& plan) {
  for (const std::string& key : resolver.unserved()) {
    const ModuleNode& node = plan.tree.nodes.find(key)->second;
    const std::string identity = node.address.source.identity();
    if (allows_source(request.walk.settings.unlocked_sources, identity)) {
      plan.unlocked.push_back(key);
      continue;
    }
    const ModuleLock* entry = find_in(request.lock.modules, key);
    const bool is_locked = entry != nullptr && entry->source == identity;
    Error error = unlockable_error(node, request.walk.settings);
    const bool is_refused = request.refuses_unlocked && !is_locked;
    error.code = is_refused ? Code::frozen : error.code;
    plan.diagnostics.push_back({is_refused ? Severity::error : Severity::warning, std::move(error)});
  }
  if (!plan.unlocked.empty()) {
    plan.diagnostics.push_back(unlocked_warning(plan.unlocked));
  }
}

Result<void> check_targets(const PlanRequest& request, const ModuleTree& tree) {
  for (const std::string& target : request.targets) {
    const std::string key = target.starts_with("module.") ? target.substr(7) : std::string();
    const bool known =
        !key.empty() && std::ranges::any_of(tree.nodes, [&](const auto& entry) { return is_below(entry.first, key); });
    if (!known) {
      return fail(unknown_subject(target, module_subjects(tree)));
    }
  }
  return {};
}

void drop_repeated(Diagnostics& diagnostics) {
  std::set<std::string> seen;
  std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) {
    const Error& what = diagnostic.what;
    const std::string place = what.location ? to_string(*what.location) : std::string();
    return !seen.insert(fmt::format("{}\n{}\n{}", to_string(what.code), place, what.message)).second;
  });
}

// A call that gets a tag in this run has no earlier commit to compare with, but other entries and the cache may have
// one.
void check_new_tags(Plan& plan, const PlanRequest& request, const SourceFetcher& fetcher, const PlanFiles& files) {
  for (const Change& change : plan.changes) {
    const std::string key = change.subject.substr(change.subject.find('.') + 1);
    const ResolvedModule* resolved = find_in(plan.resolved, key);
    const bool has_new_tag =
        change.action == Action::added || change.action == Action::updated || change.action == Action::source_changed;
    if (!has_new_tag || resolved == nullptr) {
      continue;
    }
    if (auto found = check_new_tag(request, plan.tree.nodes.at(key), *resolved, plan.modules.at(key), fetcher, files)) {
      plan.diagnostics.push_back(std::move(*found));
    }
  }
}

// Returns the host and the owner in the address of a package; empty: not known.
std::string owner_of(const std::string& package) {
  const auto source = parse_identity(package);
  return !source ? package.substr(0, package.find('@'))
                 : source->host + source->path.substr(0, source->path.find('/', 1));
}

// Names sources that changed their owner or host since they were locked: an update alone would not show it.
void warn_of_new_owners(const PlanRequest& request, Plan& plan, const SourceFetcher& fetcher) {
  if (request.mode != PlanMode::upgrade && request.former_calls.empty()) {
    return;
  }
  append(plan.diagnostics, fetcher.redirect_warnings());
  std::set<std::string> named;
  for (const auto& [key, resolved] : plan.resolved) {
    const ModuleNode& node = plan.tree.nodes.find(key)->second;
    const Source& source = node.address.source;
    const ModuleLock* before = find_in(request.lock.modules, key);
    if (!source.is_registry() || before == nullptr || before->source != source.identity()) {
      continue;
    }
    const auto old = fetcher.stored(
        source, {.id = fetcher.backend(source)->id_of(before->hashes), .ref = before->version.value_or("")});
    const auto now = fetcher.stored(source, {.id = resolved.id, .ref = resolved.ref});
    const bool is_known = old && now && !old->package.empty() && !now->package.empty();
    if (is_known && owner_of(old->package) != owner_of(now->package) && named.insert(now->package).second) {
      plan.diagnostics.push_back(as_warning(
          node.error(Code::registry_notice,
                     fmt::format("module \"{}\" is downloaded from another owner: version {} from {}, and "
                                 "version {} from {}",
                                 key, *before->version, old->package, resolved.ref, now->package),
                     "find out whether it is still published by the same owner, before you commit the lock file")));
    }
  }
}

// The listings of this run say which versions are deprecated.
void name_deprecated_versions(Plan& plan, const SourceFetcher& fetcher) {
  for (const auto& [key, resolved] : plan.resolved) {
    const ModuleNode& node = plan.tree.nodes.find(key)->second;
    const ListedVersion* listed = fetcher.known_version(node.address.source, resolved.ref);
    if (listed == nullptr || !listed->deprecated) {
      continue;
    }
    plan.diagnostics.push_back(as_warning(node.error(
        Code::registry_notice,
        fmt::format("version {} of module \"{}\" is deprecated by its registry{}{}", listed->version.to_string(), key,
                    listed->deprecated->empty() ? "" : ": ", *listed->deprecated),
        "the lock is valid; allow another version with the constraint, then run " + tofu_modlock("upgrade"))));
  }
}

// Verifies what is not yet locked, and what is restored. An entry of the lock file is the proof that its release was
// verified; an entry of a backup, which is not reviewed, is none.
Result<Diagnostics> verify_signatures(const PlanRequest& request, const ModuleTree& tree,
                                      const VersionResolver& resolver, SourceFetcher& fetcher, const Context& context) {
  SignatureCheck check(request.walk.settings, fetcher, context);
  Diagnostics errors;
  for (const auto& [key, resolved] : resolver.resolved()) {
    const ModuleNode& node = tree.nodes.find(key)->second;
    const ModuleLock* prior = resolver.prior(node);
    if (prior != nullptr && request.lock.modules.count(prior->key) != 0 &&
        prior->parsed_version() == resolved.version) {
      const std::string id = fetcher.backend(node.address.source)->id_of(prior->hashes);
      if (id.empty() ? "h1:" + prior->hash_value("h1") == resolved.h1 : id == resolved.id) {
        continue;
      }
    }
    if (auto signers = check.verify(node, resolved.version_text(), resolved.id); !signers) {
      errors.push_back({Severity::error, std::move(signers.error())});
    }
  }
  append(errors, check.warnings());  // each is given only once
  return has_errors(errors) ? fail(combine(std::move(errors))) : Result<Diagnostics>(std::move(errors));
}

// Returns whether an error does not end the plan. What is in the files of a package is not about its call.
bool is_skipped(const PlanRequest& request, const Error& error) {
  if (!request.continues_past_errors || !error.subject.starts_with("module.")) {
    return false;
  }
  const bool is_in_package = error.location && error.location->path.starts_with(request.walk.data_directory + "/");
  return is_in_package || !request.wanted.contains(error.subject.substr(7));
}

// The resolution "auto" lets registry calls differ; "unified" and "per-call" are fixed. Several walks converge: the
// tree and the decisions of the last walk belong together.
Result<ModuleTree> walk_until_stable(const PlanRequest& request, VersionResolver& resolver, const Context& context) {
  for (;;) {
    resolver.start_walk();
    auto tree = walk_modules(
        request.walk, [&](std::span<ModuleNode* const> level) { return resolver.visit(level); }, context);
    if (!tree || !resolver.must_restart()) {
      return tree;
    }
  }
}

}  // namespace

Error unlockable_error(const ModuleNode& node, const Settings& settings) {
  const Source& source = node.address.source;
  const std::string identity = source.identity();
  Error error =
      node.error(Code::source_unsupported,
                 fmt::format("module \"{}\" is not locked: {} sources are not supported (\"{}\")", node.key,
                             source.kind_name(), identity),
                 source.getter == "git::codecommit"
                     ? "allow it for the calls of your own configuration with git_helpers (docs/settings.md)"
                     : fmt::format("configure an external backend for this source type (docs/backends.md), or let "
                                   "the client download it without a lock: set unlocked_sources = [\"{}\"] in "
                                   ".tofu-modlock.hcl",
                                   identity));
  for (const SourceText& glob : settings.unapproved_sources) {
    if (allows_source({glob}, identity)) {
      error.notes.push_back(to_string(glob.location) + ": in CI the revision of --base must have this glob too");
      error.hint =
          "merge the setting first; or allow the source with TOFU_MODLOCK_UNLOCKED_SOURCES or your own settings";
    }
  }
  return error;
}

Diagnostic unlocked_warning(const std::vector<std::string>& keys) {
  return as_warning({.code = Code::lock_unenforced,
                     .message = fmt::format("{} not locked, as allowed: module.{}; calls inside {} are not checked",
                                            keys.size() == 1 ? "1 call is" : fmt::format("{} calls are", keys.size()),
                                            fmt::join(keys, ", module."), keys.size() == 1 ? "it" : "them")});
}

std::string InstalledRecord::text() const {
  return locked_text(version ? std::optional(version->to_string()) : std::nullopt, "", origin_of(commit, "", ""));
}

bool PlanRequest::accepts_moved(const std::string& subject) const {
  return accept_moved || (mode == PlanMode::upgrade && has_named_targets && contains(targets, subject));
}

bool has_module_entries(const ModuleLocks& locks) {
  return std::ranges::any_of(locks, [](const auto& entry) { return entry.first.find(':') == std::string::npos; });
}

const DroppedBlocks& PlanFiles::dropped() const {
  static const DroppedBlocks none;
  return none;
}

const std::vector<ModuleLock>& PlanFiles::earlier_entries() const {
  static const std::vector<ModuleLock> none;
  return none;
}

bool is_first_lock(const PlanRequest& request, const PlanFiles& files) {
  return request.mode != PlanMode::frozen && !has_module_entries(request.lock.modules) &&
         !has_module_entries(files.dropped().modules);
}

Error combine(Diagnostics errors) {
  const auto worse = [](const Diagnostic& a, const Diagnostic& b) {
    const int left = exit_code(a.what);
    const int right = exit_code(b.what);
    return left != right && worse_exit_code(left, right) == left;
  };
  std::ranges::stable_sort(errors, worse);
  Error first = std::move(errors.front().what);
  for (std::size_t i = 1; i < errors.size(); ++i) {
    Error& other = errors[i].what;
    first.related.push_back({std::move(other.message), other.location.value_or(Location{})});
  }
  return first;
}

Diagnostics errors_of(const Diagnostics& diagnostics) {
  return filtered(diagnostics, [](const Diagnostic& each) { return each.severity == Severity::error; });
}

Result<void> check_errors(const Diagnostics& diagnostics) {
  return has_errors(diagnostics) ? fail(combine(errors_of(diagnostics))) : Result<void>();
}

Result<Plan> make_plan(const PlanRequest& request, SourceFetcher& fetcher, const Context& context,
                       const PlanFiles& files) {
  VersionResolver resolver(request, fetcher, context, files);
  MODLOCK_TRY(auto tree, walk_until_stable(request, resolver, context));
  Plan plan;
  plan.tree = std::move(tree);
  plan.diagnostics = std::exchange(plan.tree.diagnostics, {});
  append(plan.diagnostics, resolver.diagnostics());
  append(plan.diagnostics, unmatched_rules(request.walk.settings, plan.tree, resolver.former_locks()));
  name_unserved_calls(request, resolver, plan);
  if (request.checks_client) {
    files.check(plan.tree, plan.diagnostics);
  }
  drop_repeated(plan.diagnostics);
  std::erase_if(plan.diagnostics, [&](Diagnostic& diagnostic) {
    const bool is_gone = diagnostic.severity == Severity::error && is_skipped(request, diagnostic.what);
    if (is_gone) {
      plan.tree.diagnostics.push_back(std::move(diagnostic));
    }
    return is_gone;
  });
  MODLOCK_TRY(check_errors(plan.diagnostics));
  MODLOCK_TRY(check_targets(request, plan.tree));
  plan.resolved = resolver.resolved();
  if (request.resolution == Resolution::automatic) {
    append(plan.diagnostics, warn_of_unshared_versions(plan.tree, plan.resolved, fetcher));
  }
  plan.modules = new_module_locks(request, plan.tree, resolver, fetcher);
  plan.changes = list_changes(request, plan.tree, resolver, plan.modules, plan.diagnostics);
  plan.moved = values_of(resolver.held());
  MODLOCK_TRY(const auto warnings, verify_signatures(request, plan.tree, resolver, fetcher, context));
  append(plan.diagnostics, warnings);
  check_new_tags(plan, request, fetcher, files);
  MODLOCK_TRY(check_errors(plan.diagnostics));
  warn_about_young_releases(request, plan, fetcher);
  name_deprecated_versions(plan, fetcher);
  warn_of_new_owners(request, plan, fetcher);
  return plan;
}

Result<SingleCall> plan_single_call(const PlanRequest& request, ModuleNode node, SourceFetcher& fetcher,
                                    const Context& context, const PlanFiles& files) {
  MODLOCK_TRY(check_source_allowed(request.walk.settings, node.address.source.identity()));
  ModuleTree tree;
  ModuleNode& placed = tree.nodes.emplace(node.key, node).first->second;
  VersionResolver resolver(request, fetcher, context, files);
  do {
    resolver.start_walk();
    MODLOCK_TRY(resolver.visit(std::array{&placed}));
  } while (resolver.must_restart());
  SingleCall call{.warnings = resolver.diagnostics()};
  MODLOCK_TRY(check_errors(call.warnings));
  if (const std::string* reason = find_in(resolver.frozen_out(), node.key)) {
    return fail(Error{.code = Code::frozen,
                      .message = fmt::format("the lock file does not match {} ({})", node.key, *reason),
                      .subject = node.key,
                      .location = node.call.source.location});
  }
  const ResolvedModule* resolved = find_in(resolver.resolved(), node.key);
  if (resolved == nullptr) {
    call.is_served = false;
    return call;
  }
  MODLOCK_TRY(const auto warnings, verify_signatures(request, tree, resolver, fetcher, context));
  append(call.warnings, warnings);
  call.package = {resolved->package_directory, resolved->package_subdir};
  call.lock = new_module_locks(request, tree, resolver, fetcher).find(node.key)->second;
  const ModuleLock* prior = resolver.prior(placed);
  if (request.mode != PlanMode::frozen && (prior == nullptr || prior->version != call.lock.version)) {
    if (auto found = check_new_tag(request, placed, *resolved, call.lock, fetcher, files)) {
      if (found->severity == Severity::error) {
        return fail(std::move(found->what));
      }
      call.warnings.push_back(std::move(*found));
    }
  }
  if (const HeldMove* move = find_in(resolver.held(), node.key)) {
    call.moved = *move;
  }
  return call;
}

}  // namespace modlock
