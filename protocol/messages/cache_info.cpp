#include "protocol/messages/cache_info.h"

namespace modlock::messages {

Json::Value encode(const CacheInfoResult& result) {
  Json::Value out(Json::objectValue);
  out["directory"] = result.directory;
  out["sizes"]["packages"] = static_cast<Json::UInt64>(result.packages);
  out["sizes"]["packageBytes"] = static_cast<Json::UInt64>(result.package_bytes);
  out["sizes"]["repositories"] = static_cast<Json::UInt64>(result.repositories);
  out["sizes"]["repositoryBytes"] = static_cast<Json::UInt64>(result.repository_bytes);
  return out;
}

}  // namespace modlock::messages
