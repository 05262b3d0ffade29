#include "plugin/server/handlers.h"
#include "protocol/messages/cache_info.h"

namespace modlock {

Result<Json::Value> handle_cache_info(const Service& service, const Json::Value&, RequestContext&) {
  auto sizes = measure(service.store());
  if (!sizes) {
    return fail(std::move(sizes.error()));
  }
  return messages::encode(messages::CacheInfoResult{.directory = service.store().root().string(),
                                                    .packages = sizes->packages,
                                                    .package_bytes = sizes->package_bytes,
                                                    .repositories = sizes->repositories,
                                                    .repository_bytes = sizes->repository_bytes});
}

}  // namespace modlock
