#pragma once

#include <json/value.h>

#include <cstdint>
#include <string>

namespace modlock::messages {

struct CacheInfoResult {
  std::string directory;
  std::uint64_t packages = 0;
  std::uint64_t package_bytes = 0;
  std::uint64_t repositories = 0;
  std::uint64_t repository_bytes = 0;
};
Json::Value encode(const CacheInfoResult& result);

}  // namespace modlock::messages
