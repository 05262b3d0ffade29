#pragma once

#include <json/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/object_reader.h"

namespace modlock::messages {

struct CacheSizes {
  std::uint64_t packages = 0;
  std::uint64_t package_bytes = 0;
  std::uint64_t repositories = 0;
  std::uint64_t repository_bytes = 0;
};

struct CacheInfoResult {
  std::string directory;
  CacheSizes sizes;
};
Json::Value encode(const CacheInfoResult& result);

struct CachePruneParams {
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::string> max_age;  // a duration: "720h"
};
Result<CachePruneParams> decode_cache_prune(const Json::Value& params, std::vector<std::string>& unknown);

struct CachePruneResult {
  std::string directory;
  CacheSizes sizes;  // what is left
  CacheSizes removed;
  std::uint64_t leftovers = 0;
};
Json::Value encode(const CachePruneResult& result);

}  // namespace modlock::messages
