#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "backends/address/version.h"
#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "plugin/config/config_files.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/installer.h"
#include "plugin/install/overrides.h"
#include "plugin/lock/local_git.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/provider_selection.h"
#include "protocol/base/result.h"
#include "protocol/messages/modules_install.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Returns whether a change leaves a call without a matching entry.
bool stops_install(const Change& change) {
  return change.action == Action::added || change.action == Action::renamed || change.action == Action::updated ||
         change.action == Action::source_changed || change.action == Action::hashes_added;
}

OverrideMode override_mode(const std::optional<bool>& wanted) {
  return !wanted ? OverrideMode::leave : *wanted ? OverrideMode::write : OverrideMode::remove;
}

// Older clients treat `version = null` next to a source of another type as a version.
Result<void> check_release_takes_overrides(const Engine& engine, const RootRequest& root, const Context& context) {
  const ClientVersion release = client_version_of(root.implementation, root.walk.root, engine.options(), context);
  const auto version = Version::parse(release.version);
  if (!release.is_known || !version || !(*version < *Version::parse("1.10.0-alpha0"))) {
    return {};
  }
  return fail(Code::source_unsupported,
              "override files take the version from a call, which OpenTofu understands from 1.10 on, and this is " +
                  release.version,
              "upgrade OpenTofu, or write versions of git and OCI sources into .tofu-modlock.hcl");
}

// Adds the replacements of the file next to the root, and of the request, to those of the user's settings. Files of
// Terragrunt's copies are not those of the user. Errors: those of load_replacements(); SOURCE_DENIED.
Result<void> add_replacements(const OpenRoot& open, const messages::ModulesInstallParams& params, Settings& settings) {
  const RootRequest& root = open.root;
  if (const fs::path file = root.walk.root / kLocalSettingsFileName; root.is_versioned && path_exists(file)) {
    MODLOCK_TRY(const auto tracked, find_tracked_entry(file, open.context));
    if (!tracked.empty() || !path_exists(root.repository / ".git")) {
      return fail(Code::source_denied,
                  fmt::format("{} must not be part of a checkout, and {}", kLocalSettingsFileName,
                              tracked.empty() ? "no git repository shows that it is not" : "git tracks it"),
                  "remove it, and use " + tofu_modlock("install", "--replace", "module.KEY=DIR"));
    }
    MODLOCK_TRY(load_replacements(root.walk.root, settings));
  }
  for (const auto& [key, directory] : params.replaced) {
    const Location flag{"--replace", {}};
    settings.modules.emplace(key, ModuleRule{.location = flag}).first->second.replace = SourceText{directory, flag};
  }
  return {};
}

// Checks that the directories in place of packages are those of locked calls, and that nothing excludes them.
// Errors: SOURCE_DENIED.
Result<void> check_replaced(const OpenRoot& open, const Plan& plan, const OverridePlan& overrides,
                            const Settings& settings, const messages::ModulesInstallParams& params) {
  for (const auto& [key, node] : plan.tree.nodes) {
    const auto resolved = plan.resolved.find(key);
    const bool is_replaced = resolved != plan.resolved.end() && resolved->second.is_replaced;
    const auto rule = settings.modules.find(key);
    const std::string_view obstacle = !is_replaced                                    ? "it is not a locked package"
                                      : params.is_ci || open.engine().options().in_ci ? "this is not allowed in CI"
                                      : params.link.value_or(false) ? "links into the cache are requested"
                                      : params.overrides.value_or(overrides.sources.count(key) != 0)
                                          ? "override files are used"
                                          : "";
    if (!obstacle.empty() && (is_replaced || (rule != settings.modules.end() && rule->second.replace))) {
      return fail(Error{.code = Code::source_denied,
                        .message = fmt::format("{} cannot be replaced by a directory: {}", node.subject(), obstacle),
                        .subject = node.subject(),
                        .hint = "remove the replacement"});
    }
  }
  return {};
}

// Writes or removes the requested override files. Returns the sources that a client then uses.
Result<OverridePlan> make_override_plan(const OpenRoot& open, const Plan& plan, const Settings& settings,
                                        const messages::ModulesInstallParams& params) {
  const RootRequest& root = open.root;
  const OverrideMode mode = override_mode(params.overrides);
  auto overrides = plan_overrides(
      {.tree = plan.tree, .locks = plan.modules, .root = root.walk.root, .bounds = root.walk.bounds, .mode = mode});
  if (overrides && mode == OverrideMode::write && !overrides->sources.empty()) {
    MODLOCK_TRY(check_release_takes_overrides(open.engine(), root, open.context));
  }
  if (overrides) {
    MODLOCK_TRY(check_replaced(open, plan, *overrides, settings, params));
    MODLOCK_TRY(apply_overrides(*overrides));
  }
  return overrides;
}

// Uses the bundle that a request names. Errors: INVALID_PARAMS; those of bundle_repository().
Result<void> use_named_bundle(const Engine& engine, OpenRoot& open, const std::string& from) {
  if (from.starts_with("oci://")) {
    MODLOCK_TRY(const auto repository, bundle_repository(from, engine.options().plain_http));
    open.set_bundle(open.read_repository(repository, BundleReader::Role::named));
    return {};
  }
  if (!fs::path(from).is_absolute()) {
    return fail(Code::invalid_params, fmt::format("from: \"{}\" is neither an absolute path nor oci://", from),
                "send the absolute path of a bundle, or oci://HOST/REPOSITORY");
  }
  if (!path_exists(from)) {
    return fail(Code::invalid_params, fmt::format("bundle \"{}\" not found", from), "name an existing bundle");
  }
  open.set_bundle(std::make_unique<BundleReader>(
      BundleReader::Options{.open = [from, &engine, &open] { return open_layout(from, engine.store(), open.context); },
                            .name = from,
                            .tag = closure_tag(open.lock.modules()),
                            .modules = open.allowed_entries()},
      engine.store()));
  return {};
}

// Returns the error of an installation that may use only the bundle.
Error missing_package_error(Error error, const BundleReader& bundle, const std::string& source, bool needs_proof) {
  if (bundle.damage()) {
    return *bundle.damage();
  }
  error.message =
      fmt::format("the package of {} ({}) is neither in the cache nor in {}", error.subject, source, bundle.name());
  error.hint = "add it to the bundle or repository, or install without --remote-only";
  if (needs_proof) {
    error.message =
        fmt::format("{} needs an override file, so its package must come from its source or the cache", error.subject);
    error.hint = "install without --remote-only";
  } else if (bundle.failure()) {
    error.notes.push_back(bundle.failure()->message);
  }
  return error;
}

// Adds the packages of a Terragrunt unit, whose configuration is elsewhere, from a bundle to the cache for its hooks.
Result<InstallReport> fill_cache(const Store& store, OpenRoot& open) {
  BundleReader& bundle = *open.bundle();
  InstallReport done;
  for (const auto& [key, entry] : open.lock.modules()) {
    const std::string h1 = "h1:" + entry.hash_value("h1");
    MODLOCK_TRY(check_entry_allowed(open.root.walk.settings, entry));
    MODLOCK_TRY(const auto node, node_of_entry(entry));
    const Backend* const backend = open.fetcher().backend(node.address.source);
    const auto fetched =
        backend == nullptr ? std::nullopt
                           : store.find(node.address.source, backend->id_of(entry.hashes), entry.version.value_or(""));
    const bool is_fetched = fetched && fetched->h1 == h1;
    const bool is_known = is_fetched || bundle.find(node, h1, open.context).has_value();
    if (bundle.damage()) {
      return fail(*bundle.damage());
    }
    if (!is_known) {
      return fail(Error{.code = Code::missing,
                        .message = fmt::format("\"{}\" does not have the package of {}", bundle.name(), key),
                        .subject = key,
                        .hint = "create the bundle again from this lock file"});
    }
    if (!is_fetched && !store.find_proven(entry.origin_hash(), h1, open.context)) {
      done.diagnostics.push_back(as_warning(
          {.code = Code::missing,
           .message = fmt::format("the package of {} was not added to the cache: no commit of git proves it", key),
           .subject = key,
           .hint = "push the bundle to a registry, and set TOFU_MODLOCK_REMOTE"}));
    }
  }
  return done;
}

Result<InstallReport> install_once(OpenRoot& open, const messages::ModulesInstallParams& params) {
  const Engine& engine = open.engine();
  const RootRequest& root = open.root;
  const Context& context = open.context;
  PlanRequest request = frozen_plan(open);
  request.replaces_packages = root.is_versioned;
  MODLOCK_TRY(add_replacements(open, params, request.walk.settings));
  using Packages = RootFiles::Packages;
  const RootFiles files(open, params.overrides.value_or(true) ? Packages::proven : Packages::any);
  auto plan = make_plan(request, open.fetcher(), context, files);
  if (!plan) {
    const std::string key = plan.error().subject.substr(plan.error().subject.find('.') + 1);
    const bool* needs_proof = find_in(files.missing(), key);
    const bool is_offline = params.remote_only.value_or(false) && plan.error().code == Code::offline_miss;
    if (is_offline && needs_proof != nullptr) {
      const std::string& source = request.lock.modules.find(key)->second.source;
      return fail(missing_package_error(std::move(plan.error()), *open.bundle(), source, *needs_proof));
    }
    return fail(open.network().with_warnings(std::move(plan.error())));
  }
  for (Change& change : plan->changes) {  // lock reads the locked package, which does not have the call
    for (const auto& [key, resolved] : plan->resolved) {
      change.is_made_by_lock =
          change.is_made_by_lock && !(resolved.is_replaced && is_below(change.subject, "module." + key));
    }
  }
  MODLOCK_TRY(check_locked(*plan, open));
  MODLOCK_TRY(auto overrides, make_override_plan(open, *plan, request.walk.settings, params));
  drop_enforced(overrides, plan->diagnostics);
  const bool links = params.link.value_or(root.walk.settings.links.value_or(false));
  MODLOCK_TRY(auto report, install_modules({.plan = *plan,
                                            .lock = effective_lock(open.lock),
                                            .data = root.data,
                                            .root = root.walk.root,
                                            .overridden = std::move(overrides.sources),
                                            .links = links ? &request.walk.settings : nullptr,
                                            .is_strict = params.strict.value_or(engine.options().in_ci)},
                                           engine.store(), context));
  append(plan->diagnostics, open.network().warnings());
  append(plan->diagnostics, report.diagnostics);
  report.diagnostics = std::move(plan->diagnostics);
  report.unlocked = std::move(plan->unlocked);
  return report;
}

}  // namespace

Result<void> check_locked(const Plan& plan, const OpenRoot& open) {
  std::vector<Change> blocking;
  std::ranges::copy_if(plan.changes, std::back_inserter(blocking), stops_install);
  return blocking.empty() ? Result<void>()
                          : fail(with_dropped_blocks(frozen_error(blocking, open.lock, open.run()), open));
}

Result<void> check_locked_providers(const OpenRoot& open) {
  for (const auto& [address, provider] : open.lock.provider_file().providers) {
    MODLOCK_TRY(check_provider_allowed(address, provider.version, provider.hashes, open.root.walk.settings.deny_rules));
  }
  return {};
}

Result<messages::ModulesInstallResult> Engine::install(const messages::ModulesInstallParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  return install_root(*open, params);
}

Result<messages::ModulesInstallResult> install_root(OpenRoot& open, const messages::ModulesInstallParams& params) {
  const Engine& engine = open.engine();
  MODLOCK_TRY(check_locked_providers(open));
  Context& context = open.context;
  context.offline = params.offline.value_or(context.offline);
  if (params.from) {
    MODLOCK_TRY(use_named_bundle(engine, open, *params.from));
  }
  const BundleReader* bundle = open.bundle();
  const bool remote_only = params.remote_only.value_or(false);
  if (remote_only && !params.from && !engine.remote()) {
    return fail(Code::invalid_params, "no bundle or remote store to install from",
                "name one with --from, TOFU_MODLOCK_REMOTE or the setting remote_store");
  }
  context.offline = context.offline || remote_only;  // the requests to the remote have a context of their own
  const bool is_unit = params.from && !has_configuration(open.root.walk.root);
  auto done = is_unit ? fill_cache(engine.store(), open) : install_once(open, params);
  if (!done && !is_unit && done.error().code == Code::hash_mismatch) {
    // A damaged package was removed from the store. The second attempt fetches it again, and its mismatch is final.
    Error damage = std::move(done.error());
    damage.hint = "it was removed from the cache and downloaded again";
    open.forget_fetched();
    done = install_once(open, params);
    if (done) {
      done->diagnostics.push_back({Severity::warning, std::move(damage)});
    }
  }
  if (!done) {
    const bool is_told = !bundle->damage() || done.error().message == bundle->damage()->message;
    return fail(is_told ? std::move(done.error()) : with_note(std::move(done.error()), bundle->damage()->message));
  }
  if (bundle->damage()) {
    return fail(with_note(*bundle->damage(), "the packages were installed from their sources instead"));
  }
  open.run().diagnostics = done->diagnostics;
  done->stats = open.run().stats();
  return done;
}

}  // namespace modlock
