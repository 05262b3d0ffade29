#pragma once

#include "plugin/server/service.h"
#include "protocol/messages/encode.h"
#include "protocol/messages/versions_list.h"
#include "protocol/method_table.h"

namespace modlock {

// Each turns one method's message into calls of the domain and their outcome into the method's result; it decides
// nothing. Errors are those of the domain, and INVALID_PARAMS.
Result<Answer> handle_config_inspect(const Service& service, const Json::Value& params, RequestContext& request);
Result<Answer> handle_versions_list(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_lock_plan(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_lock_explain(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_lock_verify(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_update_lookup(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_update_plan(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_modules_install(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_workspace_plan(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_workspace_verify(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_workspace_install(const Service& service, const Json::Value& params,
                                             RequestContext& request);
Result<Json::Value> handle_cache_info(const Service& service, const Json::Value& params, RequestContext& request);
Result<Json::Value> handle_cache_prune(const Service& service, const Json::Value& params, RequestContext& request);

// What `versions/list` answers, for hosts in the same process. Errors as above.
Result<messages::VersionsListResult> list_versions(const Service& service, const messages::VersionsListParams& params,
                                                   RequestContext& request);

struct ServerLimits {
  std::size_t max_in_flight = 8;
  std::size_t max_message_bytes = std::size_t{8} << 20U;
};

// All methods, `initialize` included. `service` outlives the table.
MethodTable make_method_table(Service& service, const ServerLimits& limits);

}  // namespace modlock
