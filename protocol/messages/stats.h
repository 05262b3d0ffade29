#pragma once

#include <json/value.h>

#include <cstdint>

namespace modlock::messages {

struct RunStats {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t elapsed_ms = 0;
};
Json::Value encode(const RunStats& stats);

}  // namespace modlock::messages
