#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
#include "plugin/resolve/explanation.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"
#include "protocol/messages/lock_explain.h"

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
std::optional<messages::LockExplainResult> explain_conflict_of(const PlanRequest& failed, const LockDocument& lock,
                                                               const std::string& name, SourceFetcher& fetcher,
                                                               const Context& context) {
  PlanRequest apart = failed;
  apart.resolution = Resolution::per_call;
  const auto plan = make_plan(apart, fetcher, context);
  if (!plan) {
    return std::nullopt;
  }
  const auto subject = full_subject(name, plan->tree, default_registry(failed.walk.tool));
  if (!subject) {
    return std::nullopt;
  }
  return explain_conflict({.plan_request = failed, .plan = *plan, .subject = *subject, .lock_path = lock.path},
                          fetcher);
}

}  // namespace

Result<messages::LockExplainResult> Engine::explain(const messages::LockExplainParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  const LockDocument& lock = open->lock;
  const Context& context = open->context;
  MODLOCK_TRY(auto plan_request, make_plan_request(*open, messages::LockPlanParams{}));
  SourceFetcher& fetcher = open->fetcher();
  const auto plan = make_plan(plan_request, fetcher, context);
  auto explained = [&]() -> Result<messages::LockExplainResult> {
    if (!plan) {
      auto conflict = plan.error().code == Code::constraint_conflict
                          ? explain_conflict_of(plan_request, lock, params.subject, fetcher, context)
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

}  // namespace modlock
