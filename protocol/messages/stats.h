#pragma once

#include <cstdint>

#include "protocol/messages/fields.h"

namespace modlock::messages {

struct RunStats {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t elapsed_ms = 0;
};

constexpr TypeName name_of(const RunStats*) {
  return {"Stats", "What a request cost."};
}
template <typename Form>
void fields(Form& form, In<Form, RunStats> stats) {
  form.member("requests", stats.requests, "requests sent to sources");
  form.member("bytes", stats.bytes, "bytes received");
  form.member("cacheHits", stats.cache_hits, "answers and packages that the cache had");
  form.member("elapsedMs", stats.elapsed_ms, "how long it took");
}

}  // namespace modlock::messages
