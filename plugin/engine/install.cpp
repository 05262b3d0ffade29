#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "backends/address/version.h"
#include "plugin/engine/bundle.h"
#include "plugin/engine/bundle_reader.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/install_record.h"
#include "plugin/install/installer.h"
#include "plugin/install/overrides.h"
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

std::vector<messages::InstalledModule> to_messages(const std::vector<InstalledModule>& modules) {
  std::vector<messages::InstalledModule> out;
  for (const InstalledModule& module : modules) {
    out.push_back({module.key, module.directory, module.h1});
  }
  return out;
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

// Writes or removes the requested override files. Returns the sources that a client then uses.
Result<OverridePlan> make_override_plan(const Engine& engine, const RootRequest& root, const Plan& plan,
                                        OverrideMode mode, const Context& context) {
  auto overrides = plan_overrides(
      {.tree = plan.tree, .locks = plan.modules, .root = root.walk.root, .bounds = root.walk.bounds, .mode = mode});
  if (overrides && mode == OverrideMode::write && !overrides->sources.empty()) {
    MODLOCK_TRY(check_release_takes_overrides(engine, root, context));
  }
  if (overrides) {
    MODLOCK_TRY(apply_overrides(*overrides));
  }
  return overrides;
}

// The request accepts installed content only if its modes are the locked ones, because the h1 does not cover them.
//
// A client follows an override file without contacting the source, so the commit or digest of the lock has to be
// proven. The locked h1 of installed content does not prove it.
PlanRequest request_for(const RootRequest& root, const LockDocument& lock, OverrideMode mode, const Store& store,
                        const Context& context) {
  PlanRequest request = frozen_plan(root, lock, context);
  request.installed = [find = std::move(request.installed), mode, &modules = lock.file.modules, &data = root.data,
                       &store, &context](const ModuleNode& node, std::string_view h1) {
    const auto entry = modules.find(node.key);
    auto place = mode != OverrideMode::remove && needs_override(node) ? std::nullopt : find(node, h1);
    const bool fits =
        place && entry != modules.end() && has_locked_modes(entry->second, place->directory, data, store, context);
    return fits ? std::move(place) : std::nullopt;
  };
  return request;
}

struct Installation {
  InstallReport report;
  Diagnostics diagnostics;
};

// Adds the packages of a bundle. Like installed content, they do not prove a commit or digest.
void add_bundle(PlanRequest& request, BundleReader& bundle, OverrideMode mode, const Context& context) {
  request.installed = [find = std::move(request.installed), &bundle, mode, &context](const ModuleNode& node,
                                                                                     std::string_view h1) {
    auto place = find(node, h1);
    const bool needs_proof = mode != OverrideMode::remove && needs_override(node);
    return place || needs_proof ? std::move(place) : bundle.find(node, h1, context);
  };
}

// Opens the bundle that a request names; null: it names none, or a registry that cannot be used, which is a warning.
Result<std::unique_ptr<BundleReader>> open_bundle(const Engine& engine, OpenRoot& open,
                                                  const std::optional<std::string>& from) {
  if (!from) {
    return nullptr;
  }
  if (from->starts_with("oci://")) {
    MODLOCK_TRY(bundle_repository(*from, false));
    auto bundle =
        BundleReader::open(*from, effective_lock(open.lock).modules, open.network(), engine.store(), open.context);
    if (!bundle || !*bundle) {
      open.context.log->write(LogLevel::warning, fmt::format("not installed from {}: {}", *from,
                                                             bundle ? "it does not have the packages of this lock file"
                                                                    : bundle.error().message));
    }
    return bundle ? std::move(*bundle) : nullptr;
  }
  if (!fs::path(*from).is_absolute()) {
    return fail(Code::invalid_params, fmt::format("from: \"{}\" is neither an absolute path nor oci://", *from),
                "send the absolute path of a bundle, or oci://HOST/REPOSITORY");
  }
  return BundleReader::open(*from, engine.store(), open.context);
}

Result<Installation> install_once(const Engine& engine, OpenRoot& open, OverrideMode mode, BundleReader* bundle,
                                  Run& run) {
  const RootRequest& root = open.root;
  const LockDocument& lock = open.lock;
  const Context& context = open.context;
  SourceFetcher fetcher(open.network().backends(), engine.store(), context, run.began());
  PlanRequest request = request_for(root, lock, mode, engine.store(), context);
  if (bundle != nullptr) {
    add_bundle(request, *bundle, mode, context);
  }
  auto plan = make_plan(request, fetcher, context);
  if (!plan) {
    return fail(open.network().with_warnings(std::move(plan.error())));
  }
  MODLOCK_TRY(check_locked(*plan, lock.path, run));
  MODLOCK_TRY(auto overrides, make_override_plan(engine, root, *plan, mode, context));
  drop_enforced(overrides, plan->diagnostics);
  MODLOCK_TRY(auto report, install_modules({.plan = *plan,
                                            .lock = effective_lock(lock),
                                            .data = root.data,
                                            .root = root.walk.root,
                                            .overridden = std::move(overrides.sources)},
                                           engine.store(), context));
  const Diagnostics& unread = open.network().warnings();
  plan->diagnostics.insert(plan->diagnostics.end(), unread.begin(), unread.end());
  plan->diagnostics.insert(plan->diagnostics.end(), report.diagnostics.begin(), report.diagnostics.end());
  return Installation{std::move(report), std::move(plan->diagnostics)};
}

}  // namespace

Result<void> check_locked(const Plan& plan, const std::string& lock_path, Run& run) {
  std::vector<Change> blocking;
  std::copy_if(plan.changes.begin(), plan.changes.end(), std::back_inserter(blocking), stops_install);
  return blocking.empty() ? Result<void>() : fail(frozen_error(blocking, lock_path, run));
}

Result<messages::ModulesInstallResult> Engine::install(const messages::ModulesInstallParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  Context& context = open->context;
  context.offline = params.offline.value_or(context.offline);
  const OverrideMode mode = override_mode(params.overrides);
  MODLOCK_TRY(const auto bundle, open_bundle(*this, *open, params.from));
  auto done = install_once(*this, *open, mode, bundle.get(), run);
  if (!done && done.error().code == Code::hash_mismatch) {
    // A damaged package was removed from the store. The second attempt fetches it again, and its mismatch is final.
    Error damage = std::move(done.error());
    damage.hint = "it was removed from the cache and downloaded again";
    done = install_once(*this, *open, mode, bundle.get(), run);
    if (done) {
      done->diagnostics.push_back({Severity::warning, std::move(damage)});
    }
  }
  if (!done) {
    return fail(std::move(done.error()));
  }
  run.diagnostics = done->diagnostics;
  return messages::ModulesInstallResult{.installed = to_messages(done->report.installed),
                                        .reused = to_messages(done->report.reused),
                                        .removed = to_messages(done->report.removed),
                                        .manifest = done->report.manifest,
                                        .diagnostics = std::move(done->diagnostics),
                                        .stats = run.stats()};
}

}  // namespace modlock
