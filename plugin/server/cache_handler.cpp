#include <fmt/format.h>

#include "backends/store/prune.h"
#include "plugin/config/settings.h"
#include "plugin/server/handlers.h"
#include "plugin/server/root_request.h"
#include "protocol/messages/cache.h"

namespace modlock {
namespace {

messages::CacheSizes encodable(const StoreSizes& sizes) {
  return {.packages = sizes.packages,
          .package_bytes = sizes.package_bytes,
          .repositories = sizes.repositories,
          .repository_bytes = sizes.repository_bytes,
          .records = sizes.records,
          .record_bytes = sizes.record_bytes};
}

Result<PruneLimits> limits_of(const messages::CachePruneParams& params) {
  PruneLimits limits{.max_bytes = params.max_bytes};
  if (params.max_age) {
    limits.max_age = parse_duration(*params.max_age);
    if (!limits.max_age) {
      return fail(Code::invalid_params, fmt::format("maxAge must be a duration, found \"{}\"", *params.max_age),
                  "write hours, minutes and seconds, such as \"720h\"");
    }
  }
  return limits;
}

}  // namespace

Result<Json::Value> handle_cache_info(const Service& service, const Json::Value&, RequestContext&) {
  const auto sizes = measure(service.store());
  if (!sizes) {
    return fail(sizes.error());
  }
  return messages::encode(
      messages::CacheInfoResult{.directory = service.store().root().string(), .sizes = encodable(*sizes)});
}

Result<Json::Value> handle_cache_prune(const Service& service, const Json::Value& params, RequestContext& request) {
  const auto decoded = decode_params<messages::CachePruneParams>(params, request.unknown_params);
  if (!decoded) {
    return fail(decoded.error());
  }
  const auto limits = limits_of(*decoded);
  if (!limits) {
    return fail(limits.error());
  }
  Stats stats;
  const auto report = prune(service.store(), *limits, make_context(request, service, stats));
  if (!report) {
    return fail(report.error());
  }
  const auto left = measure(service.store());
  if (!left) {
    return fail(left.error());
  }
  return messages::encode(messages::CachePruneResult{.directory = service.store().root().string(),
                                                     .sizes = encodable(*left),
                                                     .removed = encodable(report->removed),
                                                     .leftovers = report->leftovers});
}

}  // namespace modlock
