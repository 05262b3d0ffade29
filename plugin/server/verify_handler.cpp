#include "plugin/server/handlers.h"
#include "plugin/server/plan_request.h"
#include "plugin/verify/verify.h"
#include "protocol/messages/lock_verify.h"

namespace modlock {
namespace {

ProviderSettings provider_settings(const RootRequest& root, const LockDocument& lock, const Network& network) {
  const ClientConfiguration& client = network.client_configuration();
  return {.lock = lock.provider_file(),
          .lock_path = lock.beside ? std::string(kLockFileName) : lock.path,
          .default_host = default_registry(root.implementation.tool),
          .dev_overrides = client.provider_installation ? client.provider_installation->dev_overrides
                                                        : std::map<ProviderAddress, std::string>(),
          .plugin_cache_directory = client.plugin_cache_directory};
}

}  // namespace

Result<Json::Value> handle_lock_verify(const Service& service, const Json::Value& params, RequestContext& request) {
  Stats stats;
  auto decoded = decode_params<messages::LockVerifyParams>(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  if (decoded->online && service.options().offline) {
    return fail(Code::invalid_params, "lock/verify: online asks the sources, and offline forbids it",
                "leave one of the two out");
  }
  auto root = open_root(decoded->root, service);
  if (!root) {
    return fail(std::move(root.error()));
  }
  auto lock = open_lock(*root, decoded->lock);
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  if (!decoded->include.modules && !decoded->include.providers) {
    return messages::encode(messages::LockVerifyResult{});
  }
  const auto network = service.network(root->implementation.tool, root->implementation.version);
  Context context = make_context(request, service, stats);
  context.offline = !decoded->online;
  context.judge_source = source_judge(root->walk.settings);
  Origin origin(network->backends(), service.store(), context, service.fresh_since());
  VerifyRequest verify{.walk = root->walk,
                       .lock = effective_lock(*lock),
                       .lock_path = lock->modules_path(),
                       .data = root->data,
                       .backends = &network->backends(),
                       .origin = decoded->online ? &origin : nullptr,
                       .full = decoded->full,
                       .strict = decoded->strict,
                       .modules = decoded->include.modules};
  if (decoded->include.providers) {
    verify.providers = provider_settings(*root, *lock, *network);
  }
  auto report = verify_root(verify, service.store(), context);
  if (!report) {
    return fail(network->with_warnings(std::move(report.error())));
  }
  if (decoded->online) {
    for (Diagnostic& diagnostic : report->diagnostics) {
      diagnostic.what = network->with_warnings(std::move(diagnostic.what));
    }
    report->diagnostics.insert(report->diagnostics.end(), network->warnings().begin(), network->warnings().end());
  }
  request.diagnostics = report->diagnostics;
  messages::LockVerifyResult result{.ok = report->ok(), .verdicts = {}, .diagnostics = std::move(report->diagnostics)};
  for (Verdict& verdict : report->verdicts) {
    result.verdicts.push_back({.subject = std::move(verdict.subject),
                               .verdict = std::string(to_string(verdict.kind)),
                               .source = std::move(verdict.source),
                               .version = std::move(verdict.version),
                               .origin = std::move(verdict.origin),
                               .expected = std::move(verdict.expected),
                               .actual = std::move(verdict.actual),
                               .detail = std::move(verdict.detail),
                               .paths = std::move(verdict.paths),
                               .more_paths = verdict.more_paths,
                               .descends = verdict.descends,
                               .commits_behind = verdict.commits_behind,
                               .location = std::move(verdict.location)});
  }
  return messages::encode(result);
}

}  // namespace modlock
