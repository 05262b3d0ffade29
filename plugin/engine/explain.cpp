#include <fmt/format.h>

#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/resolve/explanation.h"
#include "plugin/resolve/subject.h"
#include "plugin/settings/release_pattern.h"
#include "protocol/base/result.h"
#include "protocol/messages/lock_explain.h"
#include "protocol/messages/lock_find.h"

namespace modlock {
namespace {

Result<messages::LockExplainResult> explain_provider_of(OpenRoot& open, const ModuleTree& tree,
                                                        const std::string& subject) {
  const LockDocument& lock = open.lock;
  Diagnostics diagnostics;
  MODLOCK_TRY(const auto request, make_provider_request(open, tree, messages::LockPlanParams{}, diagnostics));
  const auto source = open.network().provider_source(open.root.walk.root);
  MODLOCK_TRY(auto explanation,
              explain_provider(request, subject, lock.provider_file(), lock.providers_path(), *source, open.context));
  explanation.diagnostics.insert(explanation.diagnostics.begin(), diagnostics.begin(), diagnostics.end());
  return explanation;
}

// Explains a call that takes part in a conflict; nullopt for any other.
std::optional<messages::LockExplainResult> explain_conflict_of(const PlanRequest& failed, OpenRoot& open,
                                                               const RootFiles& files, const std::string& name) {
  PlanRequest apart = failed;
  apart.resolution = Resolution::per_call;
  const auto plan = make_plan(apart, open.fetcher(), open.context, files);
  if (!plan) {
    return std::nullopt;
  }
  const auto subject = full_subject(name, plan->tree, default_registry(failed.walk.tool));
  if (!subject) {
    return std::nullopt;
  }
  return explain_conflict({.plan_request = failed, .plan = *plan, .subject = *subject, .lock_path = open.lock.path},
                          open.fetcher());
}

template <typename Ranges, typename Key>
std::optional<Location> place_of(const Ranges& ranges, const Key& key, const std::string& path) {
  const auto range = ranges.find(key);
  return range == ranges.end() ? std::nullopt : std::optional(Location{path, range->second});
}

}  // namespace

Result<messages::LockExplainResult> Engine::explain(const messages::LockExplainParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  const LockDocument& lock = open->lock;
  const Context& context = open->context;
  RootFiles files(*open);
  MODLOCK_TRY(const auto plan_request, files.make_request({}));
  SourceFetcher& fetcher = open->fetcher();
  const auto plan = make_plan(plan_request, fetcher, context, files);
  auto explained = [&]() -> Result<messages::LockExplainResult> {
    if (!plan) {
      auto conflict = plan.error().code == Code::constraint_conflict
                          ? explain_conflict_of(plan_request, *open, files, params.subject)
                          : std::nullopt;
      return conflict ? Result<messages::LockExplainResult>(std::move(*conflict))
                      : fail(open->network().with_warnings(plan.error()));
    }
    MODLOCK_TRY(const auto subject, full_subject(params.subject, plan->tree, default_registry(open->root.walk.tool)));
    if (subject.starts_with("provider.")) {
      return explain_provider_of(*open, plan->tree, subject);
    }
    return modlock::explain({.plan_request = plan_request, .plan = *plan, .subject = subject, .lock_path = lock.path},
                            fetcher, context);
  }();
  if (explained) {
    run.diagnostics = explained->diagnostics;
  }
  return explained;
}

Result<std::vector<messages::FoundRelease>> find_locked(const LockDocument& document, const std::string& release) {
  MODLOCK_TRY(const auto pattern, ReleasePattern::parse(release));
  const LockFile lock = effective_lock(document);
  std::vector<messages::FoundRelease> found;
  for (const auto& [key, entry] : lock.modules) {
    // Entries with a colon in their key belong to hosts, for example the source of a Terragrunt unit.
    MODLOCK_TRY(const auto source, parse_identity(entry.source));
    if (pattern.matches(source, entry.parsed_version(), entry.hashes)) {
      found.push_back({.subject = key.find(':') == std::string::npos ? "module." + key : key,
                       .source = entry.source,
                       .version = entry.version,
                       .origin = entry.origin_hash(),
                       .location = place_of(lock.module_ranges, key, document.modules_path())});
    }
  }
  const LockFile& providers = document.provider_file();
  for (const auto& [address, entry] : providers.providers) {
    if (pattern.matches(address, entry.version, entry.hashes)) {
      found.push_back({.subject = "provider." + address.to_string(),
                       .source = address.to_string(),
                       .version = entry.version.to_string(),
                       .origin = {},
                       .location = place_of(providers.provider_ranges, address, document.providers_path())});
    }
  }
  return found;
}

Result<messages::LockFindResult> Engine::find(const messages::LockFindParams& params, Run& run) const {
  MODLOCK_TRY(const auto open, OpenRoot::open(*this, run, params.root, params.lock));
  MODLOCK_TRY(auto found, find_locked(open->lock, params.release));
  const LockDocument& lock = open->lock;
  return messages::LockFindResult{.is_locked = lock.file.exists || lock.provider_file().exists || lock.left_sidecar,
                                  .found = std::move(found)};
}

Result<LockedFiles> Engine::sbom(const messages::RootParams& root, Run& run) const {
  MODLOCK_TRY(const auto open, OpenRoot::open(*this, run, root, {}));
  const LockDocument& lock = open->lock;
  LockedFiles found{.lock = effective_lock(lock)};
  found.lock.providers = lock.provider_file().providers;
  const auto take = [&](const std::string& name, const LockFile& file) {
    if (file.exists) {
      found.texts.emplace(name, file.text);
    }
  };
  take(lock.path, lock.file);
  take(std::string(kLockFileName), lock.beside.value_or(LockFile()));
  take(std::string(kSidecarFileName), lock.left_sidecar.value_or(LockFile()));
  if (found.texts.empty()) {
    return fail(Code::missing,
                fmt::format("there is no lock file ({}) in {}", kLockFileName, open->root.walk.root.string()),
                "an SBOM lists locked versions: run `" + tofu_modlock("lock") + "` first");
  }
  return found;
}

}  // namespace modlock
