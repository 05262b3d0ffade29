#include "plugin/engine/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/install/install_record.h"
#include "plugin/install/overrides.h"
#include "plugin/install/package_lookup.h"
#include "plugin/lock/backup.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

Resolution parse_resolution(const std::optional<std::string>& text, const Settings& settings) {
  if (!text) {
    return settings.resolution.value_or(Resolution::automatic);
  }
  return *text == "unified" ? Resolution::unified : *text == "per-call" ? Resolution::per_call : Resolution::automatic;
}

// Module blocks that a client dropped are restored from our backup; if the lock file was committed after the backup was
// made, from the commits.
Result<DroppedBlocks> read_dropped_blocks(const OpenRoot& open) {
  const auto& [root, lock, context] = std::tie(open.root, open.lock, open.context);
  MODLOCK_TRY(auto copy, load_lock_backup(root.data.path));
  const bool has_history = root.has_history();
  MODLOCK_TRY(const auto id,
              has_history ? committed_lock_id(root.walk.root, lock.path, context) : Result<std::string>(""));
  if (copy && (!has_history || id == copy->committed_id)) {
    return DroppedBlocks{std::move(copy->modules)};
  }
  if (!has_history) {
    return DroppedBlocks();
  }
  MODLOCK_TRY(auto committed, committed_module_locks(root.walk.root, lock.path, context));
  if (committed || copy || has_module_entries(lock.modules())) {
    return DroppedBlocks{committed ? std::move(*committed) : copy ? std::move(copy->modules) : ModuleLocks{}};
  }
  MODLOCK_TRY(auto gap, find_history_gap(root.repository, root.walk.root, lock.path, context));
  return DroppedBlocks{{}, std::move(gap)};
}

// Returns the platforms of the request, or else those of the settings, or else this machine. `init` uses only this
// machine.
Result<std::vector<Platform>> find_platforms(const messages::LockPlanParams& params, HashSet hashes,
                                             const Settings& settings) {
  std::vector<Platform> platforms;
  for (const std::string& text : params.platforms) {
    MODLOCK_TRY(auto platform, Platform::parse(text));
    platforms.push_back(std::move(platform));
  }
  if (hashes == HashSet::init && platforms.size() > 1) {
    return fail(Code::invalid_params,
                fmt::format("hashes \"init\" are those of one platform, found {}", platforms.size()),
                "name one platform, or use hashes \"superset\" or \"providers-lock\"");
  }
  if (platforms.empty() && hashes != HashSet::init) {
    platforms = settings.platforms;
  }
  if (platforms.empty()) {
    platforms.push_back(Platform::current());
  }
  sort_unique(platforms);
  return platforms;
}

Result<std::set<ProviderAddress>> find_targets(const std::vector<std::string>& targets,
                                               const std::vector<ProviderNeed>& needs, std::string_view default_host) {
  std::set<ProviderAddress> found;
  for (const std::string& target : targets) {
    if (!target.starts_with(kProviderSubject)) {
      continue;
    }
    auto address = ProviderAddress::parse(std::string_view(target).substr(kProviderSubject.size()), default_host);
    const bool known =
        address && std::ranges::any_of(needs, [&](const ProviderNeed& need) { return need.address == *address; });
    if (!known) {
      return fail(unknown_subject(target, provider_subjects(needs, default_host)));
    }
    found.insert(std::move(*address));
  }
  return found;
}

std::string why_needs_are_unknown(const StateProviders& state, const ModuleTree& tree) {
  if (const auto unread = unread_modules(tree); !unread.empty()) {
    return fmt::format("module \"{}\" could not be read", unread.front());
  }
  return state.unreadable;
}

std::vector<std::string> module_targets(const std::vector<std::string>& targets) {
  return filtered(targets, [](const std::string& target) { return !target.starts_with(kProviderSubject); });
}

}  // namespace

void add_document(std::vector<EditedDocument>& out, EditedDocument document, const EngineOptions& options) {
  if (document.is_configuration ? options.edits_as_ranges : !options.edits_as_full_text) {
    document.new_text.reset();
  }
  if (!options.edits_as_ranges) {
    document.edits.reset();
  }
  out.push_back(std::move(document));
}

LockFile effective_lock(const LockDocument& lock) {
  if (!lock.counts_sidecar()) {
    return lock.counts_inline() ? *lock.beside : lock.file;
  }
  LockFile effective = lock.file;  // its text has no ranges for them
  effective.modules = lock.left_sidecar->modules;
  return effective;
}

Result<ModuleNode> node_of_entry(const ModuleLock& entry) {
  ModuleNode node;
  node.key = entry.key;
  node.call.name = entry.key;
  MODLOCK_TRY(node.address.source, parse_identity(entry.source));
  if (node.address.source.has_commits()) {
    MODLOCK_TRY(node.address, parse_source(entry.source));
  }
  if (entry.version) {
    MODLOCK_TRY(auto constraint, ModuleConstraint::parse(*entry.version));
    node.constraints.push_back({std::move(constraint), entry.key, {}});
  }
  return node;
}

Result<void> check_entry_allowed(const Settings& settings, const ModuleLock& entry) {
  MODLOCK_TRY(check_source_allowed(settings, entry.source));
  MODLOCK_TRY(const auto source, parse_identity(entry.source));
  const DenyRule* rule = find_denial(std::span(settings.deny_rules), source, entry.parsed_version(), entry.hashes);
  return rule == nullptr ? Result<void>()
                         : fail(denied_release(*rule, locked_text(entry), source.package_identity(), entry.key,
                                               reselect_command(entry.source, "module." + entry.key)));
}

ModuleLocks known_locks(const OpenRoot& open) {
  const bool are_known = has_module_entries(open.lock.modules()) || open.root.walk.settings.modules.empty();
  return are_known ? open.lock.modules() : dropped_locks(open);
}

ModuleLocks dropped_locks(const OpenRoot& open) {
  const bool are_there = has_module_entries(open.lock.modules());
  return are_there ? ModuleLocks() : read_dropped_blocks(open).value_or(DroppedBlocks()).modules;
}

Error dropped_blocks_error(const LockDocument& lock) {
  const std::string advice =
      lock.beside ? "" : "; to keep them in a file that no client writes, set module_lock_file = \"sidecar\"";
  return Error{.code = Code::lock_incomplete,
               .message = lock.file.exists && !lock.beside
                              ? fmt::format("a client removed the module blocks of {}", lock.path)
                              : fmt::format("{} had module blocks, and they were removed", lock.path),
               .hint = "run: " + tofu_modlock("lock") +
                       ", which restores them, without network access if their packages are in the cache" + advice};
}

Diagnostics ignored_files(const OpenRoot& open) {
  const RootRequest& root = open.root;
  if (!root.has_history()) {
    return {};
  }
  std::vector<std::string> files = {open.lock.path};
  if (open.lock.beside) {
    files.emplace_back(kLockFileName);
  }
  std::ranges::copy_if(root.walk.settings.files, std::back_inserter(files),
                       [](const std::string& file) { return !file.starts_with('/'); });  // not the user's
  return warn_of_ignored_files(root.walk.root, files, open.context).value_or(Diagnostics());
}

Error with_dropped_blocks(Error error, const OpenRoot& open) {
  if (error.code != Code::frozen) {
    return error;
  }
  for (const Diagnostic& ignored : ignored_files(open)) {
    error.notes.push_back(ignored.what.message + "; " + ignored.what.hint);
  }
  const ModuleLocks dropped = dropped_locks(open);
  if (std::ranges::any_of(open.run().changes, [&](const messages::Change& change) {
        return dropped.count(change.subject.substr(change.subject.find('.') + 1)) != 0;
      })) {
    const Error reason = dropped_blocks_error(open.lock);
    error.notes.push_back(reason.message + "; " + reason.hint);
  }
  return error;
}

PlanRequest frozen_plan(const OpenRoot& open) {
  return {.walk = open.root.walk,
          .lock = effective_lock(open.lock),
          .mode = PlanMode::frozen,
          .resolution = Resolution::per_call,
          .refuses_unlocked = open.refuses_unlocked};
}

Error frozen_error(const std::vector<Change>& changes, const LockDocument& lock, Run& run, bool is_locked_per_call) {
  std::string named;
  for (const Change& change : changes) {
    named += fmt::format("{}{} ({})", named.empty() ? "" : ", ", change.subject, change.reason);
  }
  const bool is_of_providers =
      std::ranges::all_of(changes, [](const Change& change) { return change.subject.starts_with("provider."); });
  const bool lock_helps = std::ranges::any_of(changes, [](const Change& change) { return change.is_made_by_lock; });
  run.changes = changes;
  return Error{
      .code = Code::frozen,
      .message = fmt::format("{} does not match the configuration: {}", lock.shown_path(is_of_providers), named),
      .subject = changes.front().subject,
      .hint = is_locked_per_call ? "the lock file has a version for each call: set resolution = \"per-call\" in "
                                   ".tofu-modlock.hcl, or run " +
                                       tofu_modlock("lock") + " and review the change"
              : lock_helps ? review_lock_hint()
                           : "change the source; running lock again cannot fix this"};
}

const DroppedBlocks& RootFiles::dropped() const {
  if (!dropped_) {
    auto read = read_dropped_blocks(open_);
    dropped_ = read ? std::move(*read) : DroppedBlocks{.unreadable = std::move(read.error())};
    for (const auto& [key, entry] : read&& open_.lock.merge ? open_.lock.merge->dropped : ModuleLocks()) {
      dropped_->modules.insert_or_assign(key, entry);
    }
  }
  return *dropped_;
}

const std::vector<ModuleLock>& RootFiles::earlier_entries() const {
  if (!earlier_) {
    earlier_.emplace();
    for (const std::string& revision : open_.root.has_history() ? base_ : std::set<std::string>()) {
      for (const std::string_view name : {kLockFileName, kSidecarFileName}) {
        const auto locks = module_locks_at(open_.root.walk.root, revision, name, open_.context);
        const auto entries = values_of(locks ? locks->value_or(ModuleLocks()) : ModuleLocks());
        earlier_->insert(earlier_->end(), entries.begin(), entries.end());
      }
    }
  }
  return *earlier_;
}

std::optional<LocalPackage> RootFiles::find_package(const ModuleNode& node, std::string_view h1) const {
  if (packages_ == Packages::proven ? needs_override(node)
                                    : packages_ == Packages::served && !node.address.source.is_registry()) {
    missing_.emplace(node.key, true);
    return std::nullopt;
  }
  const DataDirectory& data = open_.root.data;
  const Store& store = open_.engine().store();
  const bool is_locked = open_.lock.modules().contains(node.key);
  const ModuleLock* entry = find_in(is_locked ? open_.lock.modules() : dropped().modules, node.key);
  if (packages_ <= Packages::proven && entry != nullptr) {
    if (!manifest_) {
      manifest_ = read_manifest(data.manifest()).value_or(Manifest());
    }
    auto place = installed_package(node, h1, data, *manifest_, store, open_.context);
    if (place && has_locked_modes(*entry, place->directory, data, store, open_.context)) {
      return place;
    }
  }
  if (!is_locked) {
    open_.bundle()->add_entries(dropped().modules);
  }
  auto found = open_.bundle()->find(node, h1, open_.context);
  if (!found) {
    missing_.emplace(node.key, false);
  }
  return found;
}

std::optional<InstalledRecord> RootFiles::find_record(const ModuleNode& node) const {
  return records_ ? records_(node) : std::nullopt;
}

void RootFiles::check(const ModuleTree& tree, Diagnostics& diagnostics) const {
  check_client_versions(tree, open_.root.implementation, open_.engine().options(), open_.context, diagnostics);
}

Result<PlanRequest> RootFiles::make_request(const messages::LockPlanParams& params) {
  const RootRequest& root = open_.root;
  const LockDocument& lock = open_.lock;
  PlanRequest request{.walk = root.walk,
                      .lock = effective_lock(lock),
                      .mode = params.mode,
                      .targets = module_targets(params.targets),
                      .accept_moved = params.accept_moved,
                      .has_named_targets = !params.since,
                      .resolution = parse_resolution(params.resolution, root.walk.settings),
                      .checks_client = true,
                      .refuses_unlocked = params.mode == PlanMode::frozen};
  if (request.mode == PlanMode::upgrade && request.targets.empty() && !params.targets.empty()) {
    request.mode = PlanMode::missing;
  }
  if (lock.merge) {
    request.contested = lock.merge->modules;
  }
  base_ = {"HEAD", params.since.value_or("HEAD")};
  if (request.mode != PlanMode::frozen) {
    dropped_.reset();
  }
  if (params.adopt && is_first_lock(request, *this)) {
    MODLOCK_TRY(records_, find_installed_records(root.data, open_.context));
  }
  return request;
}

Result<StateProviders> read_state(const RootRequest& root, const ModuleTree& tree) {
  return read_state_providers(root.walk.root, tree.modules.front().parsed->state, root.data.path, root.walk.workspace,
                              root.walk.tool, keys_of(required_providers(tree)), root.walk.documents, root.walk.bounds);
}

Result<ProviderPlanRequest> make_provider_request(const OpenRoot& open, const ModuleTree& tree,
                                                  const messages::LockPlanParams& params, Diagnostics& diagnostics) {
  const RootRequest& root = open.root;
  const std::string_view default_host = default_registry(root.walk.tool);
  const HashSet hashes = params.hashes;
  MODLOCK_TRY(auto platforms, find_platforms(params, hashes, root.walk.settings));
  MODLOCK_TRY(auto state, hashes == HashSet::providers_lock ? Result<StateProviders>() : read_state(root, tree));
  append(diagnostics, state.diagnostics);
  MODLOCK_TRY(auto needs,
              find_needs(tree, state, hashes == HashSet::providers_lock ? NeedsOf::providers_lock : NeedsOf::init,
                         default_host));
  ProviderPlanRequest request{.needs = std::move(needs),
                              .unknown_needs = why_needs_are_unknown(state, tree),
                              .locked = open.lock.provider_file().providers,
                              .mode = params.mode,
                              .hashes = hashes,
                              .platforms = std::move(platforms),
                              .tool = root.walk.tool,
                              .settings = root.walk.settings};
  if (!params.targets.empty()) {
    MODLOCK_TRY(request.targets, find_targets(params.targets, request.needs, default_host));
  }
  return request;
}

Result<std::optional<std::chrono::seconds>> requested_age(const std::string& text) {
  const auto age = parse_duration(text);
  return age || text.empty()
             ? Result<std::optional<std::chrono::seconds>>(age)
             : fail(Code::invalid_params,
                    fmt::format("the minimum release age must be a duration, found \"{}\"", escape_controls(text)),
                    "write --minimum-release-age or TOFU_MODLOCK_MINIMUM_RELEASE_AGE as 3d, 72h or 1h30m");
}

}  // namespace modlock
