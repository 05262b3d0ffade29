#include "plugin/install/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/resolve/release_age.h"
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
  const ModuleLock* entry = find_in(open.lock.modules(), verdict.subject.substr(kModulePrefix.size()));
  BundleReader* const store = open.bundle();
  if (!store->has_bundle() || !verdict.subject.starts_with(kModulePrefix) || entry == nullptr) {
    return;
  }
  if (const auto is_there = store->lists(*entry, open.context)) {
    verdict.detail +=
        fmt::format("; {} {}", store->name(), *is_there ? "has the package" : "does not have the package");
  }
}

// Names the calls whose entries a client dropped, and says once how to restore them.
// With `names_ignored` also the files that git ignores, without missing entries.
void add_dropped(VerifyReport& report, const OpenRoot& open, bool names_ignored) {
  const auto is_not_locked = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::not_locked && verdict.subject.starts_with(kModulePrefix);
  };
  const bool is_complete = std::ranges::none_of(report.verdicts, is_not_locked);
  if (!is_complete || names_ignored) {
    append(report.diagnostics, ignored_files(open));
  }
  if (is_complete) {
    return;
  }
  const ModuleLocks dropped = dropped_locks(open);
  bool are_named = false;
  for (Verdict& verdict : report.verdicts) {
    if (is_not_locked(verdict) && dropped.count(verdict.subject.substr(kModulePrefix.size())) != 0) {
      verdict.detail = "the lock file has no entry for this call; lock restores it";
      are_named = true;
    }
  }
  if (are_named) {
    report.diagnostics.push_back({Severity::warning, dropped_blocks_error(open.lock)});
  }
}

// Adds the verdict too_new to releases that are newer than the minimum release age of the settings.
Result<void> check_ages(OpenRoot& open, const messages::Include& include, VerifyReport& report) {
  const Settings& settings = open.root.walk.settings;
  const auto sets_age = [](const auto& rule) { return rule.minimum_release_age.has_value(); };
  if (!settings.requested_age && std::ranges::none_of(settings.sources, sets_age) &&
      std::ranges::none_of(settings.providers, sets_age)) {
    return fail(Code::invalid_params, "the settings have no minimum_release_age to compare with",
                "write one into .tofu-modlock.hcl: source \"*\" { minimum_release_age = \"3d\" }");
  }
  SourceFetcher& fetcher = open.fetcher();
  const auto judge = [&](const std::string& subject, std::chrono::seconds age,
                         const Result<SourceFetcher::Time>& since) {
    if (!since) {
      report.diagnostics.push_back({Severity::error, placed(open.network().with_warnings(since.error()), subject)});
      return;
    }
    const auto young = age_exception({nullptr, age}, *since, std::nullopt, fetcher.now());
    for (Verdict& verdict : report.verdicts) {
      if (young && verdict.subject == subject) {
        Verdict too_new = verdict;
        too_new.kind = VerdictKind::too_new;
        too_new.is_too_new = true;
        too_new.detail = fmt::format("{}, until {}", *young, time_text(*since + age));
        verdict = merge(std::move(verdict), std::move(too_new));
      }
    }
  };
  for (const auto& [key, node] : report.tree.nodes) {
    const Source& source = node.address.source;
    const auto age = age_limit(settings, source).minimum();
    const ModuleLock* entry = find_in(open.lock.modules(), key);
    if (include.modules && entry != nullptr && age.count() != 0 && fetcher.backend(source) != nullptr &&
        check_source_allowed(settings, source.identity())) {
      judge(node.subject(), age, locked_since(node, *entry, fetcher));
    }
  }
  const auto overrides = provider_settings(open.root, open.lock, open.network()).dev_overrides;
  const auto providers = open.network().provider_source(open.root.walk.root);
  for (const auto& [address, entry] : include.providers ? open.lock.provider_file().providers : ProviderLocks()) {
    const std::string name = "provider " + address.to_string();
    if (const auto age = age_limit(settings, address).minimum(); age.count() != 0 && overrides.count(address) == 0) {
      judge("provider." + address.to_string(), age,
            providers->list_versions(address, open.context).map([&, &locked = entry](const ProviderListing& listing) {
              const auto found = std::ranges::find(listing.versions, locked.version);
              const auto at = static_cast<std::size_t>(found - listing.versions.begin());
              const std::string unlisted = "locked " + locked.version.to_string();
              const Observation seen{unlisted};
              return found != listing.versions.end()
                         ? listing.known_since[at]
                         : FirstSeen(open.engine().store()).note(name, {&seen, 1}, fetcher.now(), open.context)[0];
            }));
    }
  }
  return {};
}

}  // namespace

Result<messages::LockVerifyResult> Engine::verify(const messages::LockVerifyParams& params, Run& run) const {
  if ((params.online || params.age) && options().offline) {
    return fail(Code::invalid_params, "lock/verify: online and age exclude offline", "remove one of them");
  }
  if (params.online) {
    run.query_once();
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
                       .known_locks = known_locks(open),
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
  MODLOCK_TRY(auto report, network.with_warnings(verify_root(verify, open.engine().store(), context)));
  if (!params.lock.text) {
    add_dropped(report, open, params.names_ignored);
  }
  auto checked_for = params.include.modules ? check_client_choice(open, report.tree, true, report.diagnostics)
                                            : Result<std::optional<messages::CheckedFor>>(std::nullopt);
  if (!checked_for) {
    report.diagnostics.push_back({Severity::error, std::move(checked_for.error())});
  }
  if (params.online) {
    for (Diagnostic& diagnostic : report.diagnostics) {
      diagnostic.what = network.with_warnings(std::move(diagnostic.what));
    }
    append(report.diagnostics, network.warnings());
  }
  if (params.age) {
    context.offline = false;
    open.check_sources();
    MODLOCK_TRY(check_ages(open, params.include, report));
  }
  for (Verdict& verdict : report.verdicts) {
    if (verdict.kind == VerdictKind::vanished) {
      add_survival(verdict, open);
    }
  }
  open.run().diagnostics = report.diagnostics;
  return messages::LockVerifyResult{.ok = exit_code(report.verdicts, report.diagnostics) == 0,
                                    .verdicts = std::move(report.verdicts),
                                    .diagnostics = std::move(report.diagnostics),
                                    .checked_for = checked_for ? std::move(*checked_for) : std::nullopt};
}

}  // namespace modlock
