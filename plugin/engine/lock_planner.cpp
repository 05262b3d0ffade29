#include <fmt/format.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/overrides.h"
#include "plugin/lock/edit.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/locked_tags.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/provider_plan.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"
#include "protocol/messages/workspace_edit.h"

namespace modlock {
namespace {

constexpr std::string_view kDraftFileName = ".opentofu.lock.hcl";  // of the draft RFC o#4071

// The new content of a lock, and the files of its parts.
struct NewLock {
  const ModuleLocks* modules = nullptr;     // null: their blocks stay as they are
  const ProviderPlan* providers = nullptr;  // null: their blocks stay as they are
};

// Returns the text of a lock file on disk; nullopt: there is none.
std::optional<std::string_view> text_on_disk(const LockDocument& lock, const std::string& path,
                                             const LockFile& before) {
  if (const auto* text = lock.merge ? find_in(lock.merge->on_disk, path) : nullptr; text != nullptr) {
    return *text;
  }
  return before.exists ? std::optional<std::string_view>(before.text) : std::nullopt;
}

// `before`: nullopt for a file that does not exist.
void add_edit(messages::WorkspaceEdit& out, const std::string& path, std::optional<std::string_view> before,
              std::string_view after, const EngineOptions& options, EditOperation operation) {
  if (auto document = make_document_edit(path, before, after)) {
    document->operation = operation;
    add_document(out.documents, std::move(*document), options);
  }
}

void add_edit(messages::WorkspaceEdit& out, const LockDocument& lock, const std::string& path, const LockFile& before,
              const std::string& after, const EngineOptions& options) {
  const auto base = text_on_disk(lock, path, before);
  add_edit(out, path, base, after, options, base ? EditOperation::modify : EditOperation::create);
}

// Edits `.terraform.lock.hcl` when its module blocks move to a sidecar. A file with no other content is deleted. If no
// setting selects a file, blocks that the sidecar repeats stay until an entry changes.
void add_lock_without_modules(messages::WorkspaceEdit& out, const LockDocument& lock, const LockFile& before,
                              const ModuleLocks& moved, const EngineOptions& options) {
  const std::string path(kLockFileName);
  const bool stay = !lock.uses_sidecar && moved == lock.file.modules;
  const std::string after = write_lock(before, stay ? before.modules : ModuleLocks{});
  const bool is_empty =
      !stay && !before.modules.empty() && (after == kOpenTofuLockHeader || after == kTerraformLockHeader);
  if (is_empty) {
    add_edit(out, path, text_on_disk(lock, path, before), "", options, EditOperation::remove);
  } else {
    add_edit(out, lock, path, before, after, options);
  }
}

// Returns the edits that turn the documents of a lock into the new lock: none if nothing changes. A second file without
// blocks is deleted. If provider blocks change, their file is rewritten as the client would; otherwise everything
// except module blocks stays unchanged byte for byte.
messages::WorkspaceEdit lock_edit(const LockDocument& lock, const NewLock& after, ClientKind tool,
                                  const EngineOptions& options) {
  const std::string_view header = lock_header(tool, kLockFileName);
  const bool writes_providers = after.providers != nullptr && after.providers->is_written;
  messages::WorkspaceEdit out;
  if (writes_providers && !lock.beside) {
    const ModuleLocks& modules = after.modules != nullptr ? *after.modules : lock.file.modules;
    add_edit(out, lock, lock.path, lock.file, write_whole_lock(modules, after.providers->providers, header), options);
  } else if (after.modules != nullptr && (lock.file.exists || !after.modules->empty())) {
    add_edit(out, lock, lock.path, lock.file, write_lock(lock.file, *after.modules, lock_header(tool, lock.path)),
             options);
  }
  if (after.modules != nullptr && lock.left_sidecar) {
    const std::string path(kSidecarFileName);
    if (const auto before = text_on_disk(lock, path, *lock.left_sidecar)) {
      add_edit(out, path, before, "", options, EditOperation::remove);
    }
  }
  if (writes_providers && lock.beside) {
    const ModuleLocks modules = after.modules != nullptr ? ModuleLocks{} : lock.beside->modules;
    add_edit(out, lock, std::string(kLockFileName), *lock.beside,
             write_whole_lock(modules, after.providers->providers, header), options);
  } else if (after.modules != nullptr && lock.beside && lock.beside->exists) {
    add_lock_without_modules(out, lock, *lock.beside, *after.modules, options);
  }
  return out;
}

// The age of the host replaces that of the settings. Its lists restrict what the settings allow, and are checked after
// them.
Result<void> add_policy(Settings& settings, const messages::LockPlanParams& params) {
  MODLOCK_TRY(const auto age, requested_age(params.minimum_release_age.value_or("")));
  settings.requested_age = age ? age : settings.requested_age;
  const auto written = [](const std::string& text) {
    return SourceText{text, Location{"params.policy", std::nullopt}};
  };
  std::ranges::transform(params.deny, std::back_inserter(settings.deny_sources), written);
  if (!params.allow.empty()) {
    AllowList& list = settings.allow_lists.emplace_back();
    std::ranges::transform(params.allow, std::back_inserter(list.globs), written);
  }
  return {};
}

std::vector<messages::LockedModule> locked_modules(const Plan& plan) {
  std::vector<messages::LockedModule> out;
  for (const auto& [key, lock] : plan.modules) {
    const auto node = plan.tree.nodes.find(key);
    out.push_back({.key = key,
                   .source = lock.source,
                   .version = lock.version,
                   .ref = node == plan.tree.nodes.end() ? "" : node->second.address.source.named_reference(),
                   .commit = lock.hash_value("git"),
                   .digest = lock.hash_value("oci"),
                   .constraints = lock.constraints,
                   .hashes = lock.hashes});
  }
  return out;
}

// Reads the modules of a root if they are not to be locked: as they are locked or installed.
Result<ModuleTree> read_tree(OpenRoot& open) {
  auto tree = walk_locked_modules(open);
  if (const auto unread = tree ? unread_modules(*tree) : std::vector<std::string>(); !unread.empty()) {
    const ModuleNode& node = tree->nodes.find(unread.front())->second;
    return fail(node.error(
        Code::missing,
        fmt::format("cannot determine the providers of module \"{}\": it is neither locked nor installed", node.key),
        "lock modules too (without --include providers), or let the client install them"));
  }
  return tree;
}

// Returns FROZEN for edits that change no entry: a file that another setting left, or its layout.
Error unwritten_error(const messages::WorkspaceEdit& edits) {
  std::string named;
  for (const messages::EditedDocument& document : edits.documents) {
    named += fmt::format("{}{} {}", named.empty() ? "" : ", ", messages::to_string(document.operation), document.path);
  }
  return Error{.code = Code::frozen,
               .message = fmt::format("every entry matches the configuration, but lock would write files: {}", named),
               .hint = review_lock_hint()};
}

// Returns the warning LOCK_INCOMPLETE for module calls that are resolved although commits that git does not read may
// contain their blocks. With `is_frozen` they are not resolved: FROZEN.
Error lost_history_error(const std::string& lock_path, const RepositoryFault& gap, bool is_frozen) {
  return Error{.code = is_frozen ? Code::frozen : Code::lock_incomplete,
               .message = fmt::format("{} has no module blocks, and blocks that were dropped from it cannot be "
                                      "restored: {}",
                                      lock_path, gap.why),
               .hint = fmt::format("{}, then lock again; the reviewed versions are then kept", gap.hint)};
}

// Returns the rules, in addition to the release itself, that decide which of its hashes a client records.
std::string release_rules(const ClientProgram& implementation) {
  const ProcessEnvironment environment = current_environment();
  return fmt::format("{} {} {} {}", to_string(implementation.tool), implementation.version,
                     environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION"),
                     environment.variable("OPENTOFU_ENFORCE_GPG_EXPIRATION"));
}

std::vector<messages::LockedProvider> to_messages(const ProviderPlan& plan) {
  std::vector<messages::LockedProvider> out;
  for (const auto& [address, lock] : plan.providers) {
    messages::LockedProvider provider{.address = address.to_string(),
                                      .version = lock.version.to_string(),
                                      .constraints = lock.constraints,
                                      .hashes = lock.hashes};
    if (const auto found = plan.signatures.find(address); found != plan.signatures.end()) {
      using Status = ProviderSignature::Status;
      const Status status = found->second.status;
      provider.signature.status = status == Status::signed_by_key ? "signed"
                                  : status == Status::skipped     ? "skipped"
                                                                  : "none";
      provider.signature.key_id = found->second.key_id;
    }
    out.push_back(std::move(provider));
  }
  return out;
}

class LockPlanner {
 public:
  LockPlanner(OpenRoot& open, messages::LockPlanParams params, WantedVersions wanted)
      : engine_(open.engine()), params_(std::move(params)), wanted_(std::move(wanted)), run_(open.run()) {}

  Result<messages::LockPlanResult> plan(OpenRoot& open) {
    if (open.lock.merge) {
      MODLOCK_TRY(check_contested(*open.lock.merge, params_.include));
    }
    MODLOCK_TRY(add_policy(open.root.walk.settings, params_));
    open.check_sources();
    const std::vector<std::string> given = params_.targets;
    MODLOCK_TRY(name_targets(open));
    if (auto ok = plan_open(open); !ok) {
      for (std::size_t i = 0; i < given.size(); ++i) {
        ok.error().subject = ok.error().subject == params_.targets[i] ? given[i] : ok.error().subject;
      }
      return fail(open.network().with_warnings(std::move(ok.error())));
    }
    const bool is_check = params_.mode == PlanMode::frozen;
    if (modules_ && (!is_check || modules_->changes.empty())) {
      MODLOCK_TRY(checked_for_, check_client_choice(open, modules_->tree, is_check, diagnostics_));
    }
    append(diagnostics_, open.network().warnings());
    return answer(open);
  }

 private:
  // Replaces bare names. Reads the modules only if there are any.
  Result<void> name_targets(OpenRoot& open) {
    if (std::ranges::all_of(params_.targets, is_full_subject)) {
      return {};
    }
    MODLOCK_TRY(const auto tree, walk_offline_modules(open.root, open));
    for (std::string& target : params_.targets) {
      MODLOCK_TRY(target, full_subject(target, tree, default_registry(open.root.walk.tool)));
    }
    return {};
  }

  Result<void> plan_open(OpenRoot& open) {
    if (params_.mode == PlanMode::upgrade && open.context.offline) {
      return fail(Code::offline_miss, "cannot upgrade in offline mode: upgrade must query the sources",
                  "run the command without offline mode; lock can add missing entries offline");
    }
    std::optional<ModuleTree> tree;
    if (params_.include.modules) {
      MODLOCK_TRY(plan_modules(open));
    } else if (params_.include.providers) {
      MODLOCK_TRY(tree, read_tree(open));
      append(diagnostics_, tree->diagnostics);
      check_client_versions(*tree, open.root.implementation, engine_.options(), open.context, diagnostics_);
      MODLOCK_TRY(check_errors(diagnostics_));
    }
    return params_.include.providers ? plan_providers_of(open, tree ? *tree : modules_->tree) : Result<void>();
  }

  Result<void> plan_modules(OpenRoot& open) {
    const LockDocument& lock = open.lock;
    RootFiles files(open);
    MODLOCK_TRY(auto plan_request, files.make_request(params_));
    plan_request.wanted = std::move(wanted_.modules);
    plan_request.former_calls = std::move(wanted_.former_calls);
    plan_request.continues_past_errors = wanted_.continues_past_errors;
    const auto gap = has_module_entries(plan_request.lock.modules) ? std::nullopt : files.dropped().history_gap;
    const bool may_lose_blocks = gap && (params_.mode == PlanMode::missing || !params_.targets.empty());
    if (may_lose_blocks && engine_.options().in_ci) {
      plan_request.mode = PlanMode::frozen;
    }
    MODLOCK_TRY(modules_, make_plan(plan_request, open.fetcher(), open.context, files));
    if (is_first_lock(plan_request, files) && path_exists(open.root.walk.root / kDraftFileName)) {
      modules_->diagnostics.push_back(
          {Severity::info,
           Error{.code = Code::lock_incomplete,
                 .message = fmt::format("{} is not read: no release of OpenTofu writes this file", kDraftFileName),
                 .hint = fmt::format("nothing to do; {} has the module locks", lock.path)}});
    }
    if (params_.mode == PlanMode::frozen && !modules_->changes.empty() &&
        plan_request.resolution != Resolution::per_call) {
      plan_request.resolution = Resolution::per_call;
      const auto per_call = make_plan(plan_request, open.fetcher(), open.context, files);
      is_locked_per_call_ = per_call && per_call->changes.empty();
    }
    if (may_lose_blocks && !modules_->changes.empty()) {
      Error error = lost_history_error(lock.path, *gap, engine_.options().in_ci);
      if (error.code == Code::frozen) {
        run_.changes = modules_->changes;
        return fail(std::move(error));
      }
      modules_->diagnostics.push_back({Severity::warning, std::move(error)});
    }
    if (params_.mode == PlanMode::frozen && engine_.options().in_ci) {
      MODLOCK_TRY(check_unknown_sources(modules_->tree));
    }
    check_overrides(open.root);
    append(modules_->diagnostics, warn_of_split_tags(modules_->modules, open.root.walk.settings));
    diagnostics_ = std::move(modules_->diagnostics);
    return check_errors(diagnostics_);
  }

  // In CI what cannot be locked must not pass unseen.
  static Result<void> check_unknown_sources(const ModuleTree& tree) {
    for (const TreeModule& module : tree.modules) {
      for (const UnknownSource& source : module.parsed->unknown_sources) {
        return fail(
            Error{.code = Code::frozen,
                  .message = fmt::format("the block {} has a source, but its type is not known: it cannot be locked",
                                         source.address),
                  .subject = module.subject(),
                  .location = Location{join_relative(module.directory, source.location.path), source.location.range},
                  .hint = "use a newer tofu-modlock, or remove the block"});
      }
    }
    return {};
  }

  // Our override files follow the lock. Under frozen one that does not match is an error, unless the lock itself has to
  // change first.
  void check_overrides(const RootRequest& root) {
    OverrideRequest request{
        .tree = modules_->tree, .locks = modules_->modules, .root = root.walk.root, .bounds = root.walk.bounds};
    if (params_.mode == PlanMode::frozen) {
      check_override_files(request, modules_->diagnostics,
                           modules_->changes.empty() ? Severity::error : Severity::warning);
      return;
    }
    request.mode = OverrideMode::refresh;
    auto plan = plan_overrides(request);
    if (plan) {
      drop_enforced(*plan, modules_->diagnostics);
      overrides_ = std::move(plan->writes);
    }
    std::vector<Error> left = plan ? std::move(plan->left) : std::vector<Error>{std::move(plan.error())};
    for (Error& reason : left) {
      reason.code = Code::lock_unenforced;
      modules_->diagnostics.push_back({Severity::warning, std::move(reason)});
    }
  }

  // They are locked anyway, as a client does.
  void warn_of_overrides(const ClientConfiguration& client) {
    for (const auto& [address, lock] : providers_->providers) {
      if (client.provider_installation && client.provider_installation->dev_overrides.count(address) != 0) {
        diagnostics_.push_back(
            as_warning({.code = Code::lock_unenforced,
                        .message = fmt::format("provider {} has a dev_overrides entry: the client uses that directory "
                                               "instead of the locked version",
                                               address.to_string()),
                        .subject = "provider." + address.to_string(),
                        .hint = "remove it from dev_overrides in the CLI configuration to use the locked version"}));
      }
    }
  }

  Result<void> plan_providers_of(OpenRoot& open, const ModuleTree& tree) {
    const RootRequest& root = open.root;
    const LockDocument& lock = open.lock;
    const Network& network = open.network();
    MODLOCK_TRY(auto provider_request, make_provider_request(open, tree, params_, diagnostics_));
    const ReleaseHashes known(engine_.store(), release_rules(root.implementation));
    provider_request.known = &known;
    provider_request.wanted = std::move(wanted_.providers);
    MODLOCK_TRY(check_errors(diagnostics_));
    const bool is_settled_otherwise = lock.merge && resolve_merged_providers(*lock.merge, provider_request);
    const auto source =
        params_.hashes == HashSet::providers_lock ? network.provider_source() : network.provider_source(root.walk.root);
    auto plan = plan_providers(provider_request, *source, open.context);
    if (!plan) {
      Error error = std::move(plan.error());
      if (params_.include.modules && exit_code(error) == exit_code(Code::unreachable)) {
        error.notes.push_back("the lock file was not changed; use --include modules to lock only modules");
      }
      return fail(std::move(error));
    }
    providers_ = std::move(*plan);
    providers_->is_written = providers_->is_written || is_settled_otherwise;
    append(diagnostics_, providers_->diagnostics);
    warn_of_overrides(network.client_configuration());
    return {};
  }

  Result<messages::LockPlanResult> answer(const OpenRoot& open) {
    const LockDocument& lock = open.lock;
    std::vector<Change> changes = modules_ ? std::move(modules_->changes) : std::vector<Change>{};
    if (providers_) {
      changes.insert(changes.end(), providers_->changes.begin(), providers_->changes.end());
    }
    if (params_.mode == PlanMode::frozen && !changes.empty()) {
      return fail(with_dropped_blocks(frozen_error(changes, lock, run_, is_locked_per_call_), open));
    }
    // A merge changes the file even if this run plans no modules.
    const bool is_merged = lock.merge && !lock.counts_inline() && !lock.counts_sidecar();
    const ModuleLocks* unplanned = is_merged ? &lock.file.modules : nullptr;
    messages::LockPlanResult result{
        .edits = lock_edit(
            lock,
            {.modules = modules_ ? &modules_->modules : unplanned, .providers = providers_ ? &*providers_ : nullptr},
            open.root.walk.tool, engine_.options()),
        .modules = modules_ ? locked_modules(*modules_) : std::vector<messages::LockedModule>{},
        .providers = providers_ ? to_messages(*providers_) : std::vector<messages::LockedProvider>{},
        .stats = run_.stats(),
        .checked_for = std::move(checked_for_)};
    if (params_.mode == PlanMode::frozen && !result.edits.documents.empty()) {
      return fail(unwritten_error(result.edits));
    }
    if (lock.merge && !result.edits.documents.empty()) {
      name_merged_entries(*lock.merge, modules_ ? modules_->modules : lock.modules(),
                          providers_ ? providers_->providers : lock.provider_file().providers, changes);
    }
    for (const OverridePlan::Write& write : overrides_) {
      add_edit(result.edits, write.name, write.before.value_or(""), write.text.value_or(""), engine_.options(),
               write.text ? EditOperation::modify : EditOperation::remove);
    }
    result.changes = std::move(changes);
    if (modules_) {
      result.moved = std::move(modules_->moved);
      append(diagnostics_, modules_->tree.diagnostics);
    }
    if (!result.edits.documents.empty()) {
      append(diagnostics_, ignored_files(open));
    }
    run_.diagnostics = diagnostics_;
    result.diagnostics = std::move(diagnostics_);
    return result;
  }

  const Engine& engine_;
  messages::LockPlanParams params_;
  WantedVersions wanted_;
  Run& run_;
  std::optional<Plan> modules_;
  bool is_locked_per_call_ = false;  // under frozen
  std::optional<ProviderPlan> providers_;
  std::optional<messages::CheckedFor> checked_for_;
  std::vector<OverridePlan::Write> overrides_;  // our files that no longer match
  Diagnostics diagnostics_;
};

}  // namespace

Result<messages::LockPlanResult> plan_lock(const Engine& engine, messages::LockPlanParams params,
                                           std::optional<WantedVersions> wanted, Run& run) {
  const bool merges = !wanted && params.mode == PlanMode::missing;
  MODLOCK_TRY(auto open, OpenRoot::open(engine, run, params.root, params.lock,
                                        merges ? OpenRoot::Merging::yes : OpenRoot::Merging::no));
  return LockPlanner(*open, std::move(params), std::move(wanted).value_or(WantedVersions{})).plan(*open);
}

Result<messages::LockPlanResult> plan_root(OpenRoot& open, messages::LockPlanParams params) {
  return LockPlanner(open, std::move(params), {}).plan(open);
}

Result<messages::LockPlanResult> Engine::plan(const messages::LockPlanParams& params, Run& run) const {
  return plan_lock(*this, params, std::nullopt, run);
}

}  // namespace modlock
