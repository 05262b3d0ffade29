#include <algorithm>

#include "plugin/build_info.h"
#include "plugin/server/handlers.h"
#include "plugin/server/implementation.h"
#include "protocol/dispatcher.h"
#include "protocol/messages/openrpc.h"

namespace modlock {
namespace {

using DomainHandler = std::function<Result<Answer>(const Service&, const Json::Value&, RequestContext&)>;

Result<Json::Value> initialize(Service& service, const std::vector<std::string>& methods, const ServerLimits& limits,
                               const Json::Value& params, RequestContext& request) {
  auto decoded = messages::decode_initialize(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  if (auto ok = service.configure(*decoded); !ok) {
    return fail(std::move(ok.error()));
  }
  if (auto ok = service.open(); !ok) {
    return fail(std::move(ok.error()));
  }
  const Implementation implementation = find_implementation(service.options());
  return messages::encode(messages::InitializeResult{.server_version = std::string(kVersion),
                                                     .methods = methods,
                                                     .backends = service.network()->names(),
                                                     .max_in_flight = limits.max_in_flight,
                                                     .max_message_bytes = limits.max_message_bytes,
                                                     .implementation = std::string(to_string(implementation.tool)),
                                                     .implementation_version = implementation.version,
                                                     .implementation_from = implementation.from});
}

}  // namespace

MethodTable make_method_table(Service& service, const ServerLimits& limits) {
  const std::pair<const char*, DomainHandler> kHandlers[] = {
      {"config/inspect", handle_config_inspect},
      {"versions/list", handle_versions_list},
      {"lock/plan", handle_lock_plan},
      {"lock/explain", handle_lock_explain},
      {"lock/verify", handle_lock_verify},
      {"modules/install", handle_modules_install},
      {"cache/info", handle_cache_info},
      {"cache/prune", handle_cache_prune},
      {"update/lookup", handle_update_lookup},
      {"update/plan", handle_update_plan},
      {"workspace/plan", handle_workspace_plan},
      {"workspace/verify", handle_workspace_verify},
      {"workspace/install", handle_workspace_install},
  };
  MethodTable table;
  for (const auto& [name, handler] : kHandlers) {
    table.add(name, [&service, handler = handler](const Json::Value& params, RequestContext& request) {
      return handler(service, params, request);
    });
  }
  table.add("rpc.discover", [](const Json::Value&, RequestContext&) { return messages::openrpc_document(); });
  std::vector<std::string> methods = table.names();
  for (std::string& name : Dispatcher::own_methods()) {
    methods.push_back(std::move(name));
  }
  methods.emplace_back("initialize");
  std::sort(methods.begin(), methods.end());
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  table.add("initialize", [&service, methods, limits](const Json::Value& params, RequestContext& request) {
    return initialize(service, methods, limits, params, request);
  });
  return table;
}

}  // namespace modlock
