#pragma once

#include <chrono>

#include "backends/context.h"
#include "protocol/messages/stats.h"

namespace modlock {

// Counts what one request costs, from its construction on.
struct RunClock {
  Stats stats;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  messages::RunStats message() const {
    const auto elapsed = std::chrono::steady_clock::now() - started;
    return {.requests = stats.requests,
            .bytes = stats.bytes,
            .cache_hits = stats.cache_hits,
            .elapsed_ms =
                static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count())};
  }
};

}  // namespace modlock
