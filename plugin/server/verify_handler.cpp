#include "plugin/server/handlers.h"
#include "plugin/server/plan_request.h"
#include "plugin/verify/verify.h"
#include "protocol/messages/lock_verify.h"

namespace modlock {

Result<Json::Value> handle_lock_verify(const Service& service, const Json::Value& params, RequestContext& request) {
  Stats stats;
  auto decoded = messages::decode_lock_verify(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  if (decoded->online) {
    return fail(Code::invalid_params, "lock/verify: asking the sources (online) is not served by this release",
                "leave online out to compare the installation with the lock");
  }
  auto root = open_root(decoded->root, service);
  if (!root) {
    return fail(std::move(root.error()));
  }
  auto lock = open_lock(*root, decoded->lock);
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  if (!decoded->include.modules) {
    return messages::encode(messages::LockVerifyResult{});
  }
  const BackendSet& backends = service.network(root->implementation.tool, root->implementation.version).backends();
  const VerifyRequest verify{.walk = root->walk,
                             .lock = effective_lock(*lock),
                             .data = root->data,
                             .serves = [&](const Source& source) { return backends.find(source) != nullptr; },
                             .strict = decoded->strict};
  auto report = verify_modules(verify, service.store(), make_context(request, service, stats));
  if (!report) {
    return fail(std::move(report.error()));
  }
  request.diagnostics = report->diagnostics;
  messages::LockVerifyResult result{.ok = report->ok(), .verdicts = {}, .diagnostics = std::move(report->diagnostics)};
  for (Verdict& verdict : report->verdicts) {
    result.verdicts.push_back({.subject = std::move(verdict.subject),
                               .verdict = std::string(to_string(verdict.kind)),
                               .expected = std::move(verdict.expected),
                               .actual = std::move(verdict.actual),
                               .detail = std::move(verdict.detail),
                               .paths = std::move(verdict.paths)});
  }
  return messages::encode(result);
}

}  // namespace modlock
