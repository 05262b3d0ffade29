#include "protocol/messages/stats.h"

namespace modlock::messages {

Json::Value encode(const RunStats& stats) {
  Json::Value out(Json::objectValue);
  out["requests"] = static_cast<Json::UInt64>(stats.requests);
  out["bytes"] = static_cast<Json::UInt64>(stats.bytes);
  out["cacheHits"] = static_cast<Json::UInt64>(stats.cache_hits);
  out["elapsedMs"] = static_cast<Json::UInt64>(stats.elapsed_ms);
  return out;
}

}  // namespace modlock::messages
