#include <fmt/format.h>

#include "backends/store/prune.h"
#include "plugin/engine/engine.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"
#include "protocol/messages/cache.h"

namespace modlock {
namespace {

Result<PruneLimits> limits_of(const messages::CachePruneParams& params) {
  PruneLimits limits{.max_bytes = params.max_bytes};
  if (params.max_age) {
    limits.max_age = parse_duration(*params.max_age);
    if (!limits.max_age) {
      return fail(Code::invalid_params,
                  fmt::format("the maximum age must be a duration, found \"{}\"", *params.max_age),
                  "write it in days, hours, minutes and seconds: \"30d\" or \"12h\"");
    }
  }
  return limits;
}

}  // namespace

Result<messages::CacheInfoResult> Engine::cache_info() const {
  MODLOCK_TRY(const auto sizes, measure(store()));
  return messages::CacheInfoResult{.directory = store().root().string(), .sizes = sizes};
}

Result<messages::CachePruneResult> Engine::prune_cache(const messages::CachePruneParams& params, Run& run) const {
  MODLOCK_TRY(const auto limits, limits_of(params));
  MODLOCK_TRY(const auto report, prune(store(), limits, context_for(run)));
  MODLOCK_TRY(const auto left, measure(store()));
  return messages::CachePruneResult{
      .directory = store().root().string(), .sizes = left, .removed = report.removed, .leftovers = report.leftovers};
}

}  // namespace modlock
