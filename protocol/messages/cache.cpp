#include "protocol/messages/cache.h"

namespace modlock::messages {
namespace {

Json::Value encode_sizes(const CacheSizes& sizes) {
  Json::Value out(Json::objectValue);
  out["packages"] = static_cast<Json::UInt64>(sizes.packages);
  out["packageBytes"] = static_cast<Json::UInt64>(sizes.package_bytes);
  out["repositories"] = static_cast<Json::UInt64>(sizes.repositories);
  out["repositoryBytes"] = static_cast<Json::UInt64>(sizes.repository_bytes);
  return out;
}

}  // namespace

Json::Value encode(const CacheInfoResult& result) {
  Json::Value out(Json::objectValue);
  out["directory"] = result.directory;
  out["sizes"] = encode_sizes(result.sizes);
  return out;
}

Result<CachePruneParams> decode_cache_prune(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  CachePruneParams out;
  out.max_bytes = in.unsigned_integer("maxBytes");
  out.max_age = in.string("maxAge");
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const CachePruneResult& result) {
  Json::Value out(Json::objectValue);
  out["directory"] = result.directory;
  out["sizes"] = encode_sizes(result.sizes);
  out["removed"] = encode_sizes(result.removed);
  out["removed"]["leftovers"] = static_cast<Json::UInt64>(result.leftovers);
  return out;
}

}  // namespace modlock::messages
