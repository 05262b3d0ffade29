#include "plugin/providers/provider_explanation.h"
#include "plugin/resolve/explanation.h"
#include "plugin/server/handlers.h"
#include "plugin/server/plan_request.h"
#include "plugin/server/provider_request.h"
#include "protocol/messages/lock_explain.h"

namespace modlock {
namespace {

std::vector<messages::ExplainedStep> to_messages(std::vector<ExplainedStep> chain) {
  std::vector<messages::ExplainedStep> out;
  for (ExplainedStep& step : chain) {
    messages::ExplainedStep told{.constraint = std::move(step.constraint),
                                 .subject = std::move(step.subject),
                                 .location = std::move(step.location),
                                 .kept = std::move(step.kept),
                                 .rejected = {}};
    for (RejectedVersion& version : step.rejected) {
      told.rejected.push_back({std::move(version.version), std::move(version.why)});
    }
    out.push_back(std::move(told));
  }
  return out;
}

messages::LockExplainResult to_message(Explanation explanation, const std::string& subject) {
  messages::LockExplainResult out{.subject = subject, .source = std::move(explanation.source), .selected = {}};
  if (const ModuleLock* lock = explanation.selected) {
    out.selected = {.version = lock->version,
                    .ref = std::move(explanation.ref),
                    .commit = lock->hash_value("git"),
                    .digest = lock->hash_value("oci"),
                    .hashes = lock->hashes,
                    .first_seen = explanation.first_seen ? time_text(*explanation.first_seen) : "",
                    .reason = {}};
  }
  out.selected.reason = std::move(explanation.reason);
  out.chain = to_messages(std::move(explanation.chain));
  out.diagnostics = std::move(explanation.diagnostics);
  return out;
}

messages::LockExplainResult to_message(ProviderExplanation explanation, const std::string& subject) {
  messages::LockExplainResult out{.subject = subject, .source = subject.substr(subject.find('.') + 1), .selected = {}};
  if (explanation.version) {
    out.selected.version = explanation.version->to_string();
  }
  out.selected.hashes = std::move(explanation.hashes);
  out.selected.reason = std::move(explanation.reason);
  out.chain = to_messages(std::move(explanation.chain));
  out.diagnostics = std::move(explanation.diagnostics);
  return out;
}

Result<messages::LockExplainResult> explain_provider_of(const RootRequest& root, const LockDocument& lock,
                                                        const ModuleTree& tree, const std::string& subject,
                                                        const Network& network, const Context& context) {
  Diagnostics diagnostics;
  const auto request = make_provider_request(root, lock, tree, messages::LockPlanParams{}, diagnostics);
  if (!request) {
    return fail(request.error());
  }
  const auto source = network.provider_source(root.walk.root);
  auto explanation = explain_provider(*request, subject, lock.provider_file(),
                                      lock.beside ? std::string(kLockFileName) : lock.path, *source, context);
  if (!explanation) {
    return fail(std::move(explanation.error()));
  }
  explanation->diagnostics.insert(explanation->diagnostics.begin(), diagnostics.begin(), diagnostics.end());
  return to_message(std::move(*explanation), subject);
}

// Of a call that takes part in a conflict; nullopt for any other.
std::optional<messages::LockExplainResult> explain_conflict_of(const PlanRequest& failed, const LockDocument& lock,
                                                               const std::string& subject, Origin& origin,
                                                               const Context& context) {
  PlanRequest apart = failed;
  apart.resolution = Resolution::per_call;
  const auto plan = make_plan(apart, origin, context);
  if (!plan) {
    return std::nullopt;
  }
  auto explanation =
      explain_conflict({.plan_request = failed, .plan = *plan, .subject = subject, .lock_path = lock.path}, origin);
  return explanation ? std::optional(to_message(std::move(*explanation), subject)) : std::nullopt;
}

}  // namespace

Result<Json::Value> handle_lock_explain(const Service& service, const Json::Value& params, RequestContext& request) {
  Stats stats;
  Context context = make_context(request, service, stats);
  auto decoded = decode_params<messages::LockExplainParams>(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  auto root = open_root(decoded->root, service);
  if (!root) {
    return fail(std::move(root.error()));
  }
  auto lock = open_lock(*root, decoded->lock);
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  context.judge_source = source_judge(root->walk.settings);
  const auto plan_request = make_plan_request(*root, *lock, messages::LockPlanParams{}, service, context);
  if (!plan_request) {
    return fail(plan_request.error());
  }
  const auto network = service.network(root->implementation.tool, root->implementation.version);
  Origin origin(network->backends(), service.store(), context, service.fresh_since());
  const auto plan = make_plan(*plan_request, origin, context);
  if (!plan && plan.error().code == Code::constraint_conflict) {
    if (auto told = explain_conflict_of(*plan_request, *lock, decoded->subject, origin, context)) {
      request.diagnostics = told->diagnostics;
      return messages::encode(*told);
    }
  }
  if (!plan) {
    return fail(network->with_warnings(plan.error()));
  }
  if (decoded->subject.starts_with("provider.")) {
    auto told = explain_provider_of(*root, *lock, plan->tree, decoded->subject, *network, context);
    if (!told) {
      return fail(std::move(told.error()));
    }
    request.diagnostics = told->diagnostics;
    return messages::encode(*told);
  }
  const ExplainRequest asked{
      .plan_request = *plan_request, .plan = *plan, .subject = decoded->subject, .lock_path = lock->path};
  auto explanation = explain(asked, origin, context);
  if (!explanation) {
    return fail(std::move(explanation.error()));
  }
  request.diagnostics = explanation->diagnostics;
  return messages::encode(to_message(std::move(*explanation), decoded->subject));
}

}  // namespace modlock
