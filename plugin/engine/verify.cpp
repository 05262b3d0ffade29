#include "plugin/install/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/engine/plan_request.h"
#include "protocol/base/result.h"
#include "protocol/messages/lock_verify.h"

namespace modlock {
namespace {

constexpr std::string_view kModulePrefix = "module.";

ProviderSettings provider_settings(const RootRequest& root, const LockDocument& lock, const Network& network) {
  const ClientConfiguration& client = network.client_configuration();
  return {.lock = lock.provider_file(),
          .lock_path = lock.providers_path(),
          .default_host = default_registry(root.implementation.tool),
          .dev_overrides = client.provider_installation ? client.provider_installation->dev_overrides
                                                        : std::map<ProviderAddress, std::string>(),
          .plugin_cache_directory = client.plugin_cache_directory};
}

// Says whether the remote store still has a package that its source no longer has.
void add_survival(Verdict& verdict, OpenRoot& open) {
  const LockFile lock = effective_lock(open.lock);
  const auto entry = lock.modules.find(std::string_view(verdict.subject).substr(kModulePrefix.size()));
  BundleReader* const store = open.bundle();
  if (!store->has_bundle() || !verdict.subject.starts_with(kModulePrefix) || entry == lock.modules.end()) {
    return;
  }
  if (const auto is_there = store->lists(entry->second, open.context)) {
    verdict.detail +=
        fmt::format("; {} {}", store->name(), *is_there ? "has the package" : "does not have the package");
  }
}

// Names the calls whose entries a client dropped, and says once how to restore them.
void add_dropped(VerifyReport& report, const RootRequest& root, const LockDocument& lock, const Context& context) {
  const auto is_not_locked = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::not_locked && verdict.subject.starts_with(kModulePrefix);
  };
  if (std::none_of(report.verdicts.begin(), report.verdicts.end(), is_not_locked)) {
    return;
  }
  const ModuleLocks dropped = dropped_locks(root, lock, context);
  bool are_named = false;
  for (Verdict& verdict : report.verdicts) {
    if (is_not_locked(verdict) && dropped.count(verdict.subject.substr(kModulePrefix.size())) != 0) {
      verdict.detail = "the lock file has no entry for this call; lock restores it";
      are_named = true;
    }
  }
  if (are_named) {
    report.diagnostics.push_back({Severity::warning, dropped_blocks_error(lock)});
  }
}

}  // namespace

Result<messages::LockVerifyResult> Engine::verify(const messages::LockVerifyParams& params, Run& run) const {
  if (params.online && options().offline) {
    return fail(Code::invalid_params, "lock/verify: online and offline exclude each other", "remove one of the two");
  }
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  return verify_root(*open, params);
}

Result<messages::LockVerifyResult> verify_root(OpenRoot& open, const messages::LockVerifyParams& params) {
  if (!params.include.modules && !params.include.providers) {
    return messages::LockVerifyResult{};
  }
  const RootRequest& root = open.root;
  const LockDocument& lock = open.lock;
  Context& context = open.context;
  context.offline = !params.online;
  const Network& network = open.network();
  VerifyRequest verify{.walk = root.walk,
                       .lock = effective_lock(lock),
                       .known_locks = known_locks(root, lock, context),
                       .lock_path = lock.modules_path(),
                       .data = root.data,
                       .backends = &network.backends(),
                       .fetcher = params.online ? &open.fetcher() : nullptr,
                       .full = params.full,
                       .strict = params.strict,
                       .in_ci = open.engine().options().in_ci,
                       .modules = params.include.modules};
  if (params.include.providers) {
    verify.providers = provider_settings(root, lock, network);
  }
  auto report = verify_root(verify, open.engine().store(), context);
  if (!report) {
    return fail(network.with_warnings(std::move(report.error())));
  }
  if (!params.lock.text) {
    add_dropped(*report, root, lock, context);
  }
  if (params.online) {
    for (Diagnostic& diagnostic : report->diagnostics) {
      diagnostic.what = network.with_warnings(std::move(diagnostic.what));
    }
    report->diagnostics.insert(report->diagnostics.end(), network.warnings().begin(), network.warnings().end());
  }
  for (Verdict& verdict : report->verdicts) {
    if (verdict.kind == VerdictKind::vanished) {
      add_survival(verdict, open);
    }
  }
  open.run().diagnostics = report->diagnostics;
  return messages::LockVerifyResult{
      .ok = report->ok(), .verdicts = std::move(report->verdicts), .diagnostics = std::move(report->diagnostics)};
}

}  // namespace modlock
