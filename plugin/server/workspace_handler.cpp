#include <fmt/format.h>

#include <atomic>

#include "backends/parallel.h"
#include "plugin/server/handlers.h"
#include "plugin/server/run_clock.h"
#include "protocol/error_json.h"
#include "protocol/messages/workspace.h"

namespace modlock {
namespace {

using SingleRoot = Result<Json::Value> (*)(const Service&, const Json::Value&, RequestContext&);

Result<Json::Value> over_workspace(const Service& service, const Json::Value& params, RequestContext& request,
                                   SingleRoot handle) {
  RunClock clock;
  std::vector<std::string> of_each;  // known to the method that is called
  const auto decoded = decode_params<messages::WorkspaceParams>(params, of_each);
  if (!decoded) {
    return fail(decoded.error());
  }
  const std::vector<std::string>& roots = decoded->roots;
  const auto run = service.for_one_run(clock.stats);
  Json::Value shared = params;  // what is copied for each root: not all roots
  shared.removeMember("roots");
  shared.removeMember("jobs");
  std::vector<Json::Value> entries(roots.size());
  std::vector<std::string> unknown;
  std::atomic<std::size_t> done = 0;
  parallel_for(roots.size(), decoded->jobs.count, [&](std::size_t i) {
    RequestContext one{.stop = request.stop, .deadline = request.deadline, .log = request.log};
    Json::Value single = shared;
    single["root"] = roots[i];
    auto result = request.stop.stop_requested() ? fail(Code::request_cancelled, "the request was cancelled")
                                                : handle(*run, single, one);
    if (result) {
      entries[i] = std::move(*result);
      entries[i].removeMember("stats");  // they are shared
    } else {
      entries[i]["error"] = to_json(result.error(), one.error_data);
    }
    entries[i]["root"] = roots[i];
    if (i == 0) {
      unknown = std::move(one.unknown_params);
    }
    request.progress->report(roots[i], ++done, roots.size());
  });
  request.unknown_params = std::move(unknown);
  if (auto ok = Context{.stop = request.stop, .deadline = request.deadline}.check(); !ok) {
    return fail(std::move(ok.error()));
  }
  messages::WorkspaceResult result{.stats = clock.message()};
  for (Json::Value& entry : entries) {
    result.results.push_back({std::move(entry)});
  }
  return messages::encode(result);
}

}  // namespace

Result<Json::Value> handle_workspace_plan(const Service& service, const Json::Value& params, RequestContext& request) {
  return over_workspace(service, params, request, handle_lock_plan);
}

Result<Json::Value> handle_workspace_verify(const Service& service, const Json::Value& params,
                                            RequestContext& request) {
  return over_workspace(service, params, request, handle_lock_verify);
}

Result<Json::Value> handle_workspace_install(const Service& service, const Json::Value& params,
                                             RequestContext& request) {
  return over_workspace(service, params, request, handle_modules_install);
}

}  // namespace modlock
