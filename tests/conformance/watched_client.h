#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/http/http_client.h"
#include "backends/http/retrying_http_client.h"

namespace modlock::test {

// What the requests to some URLs came to, and how much time they are given. Thread-safe.
struct Wire {
  std::string prefix = {};  // of the URLs in question; empty: there are none
  // Instead of the real ones: of a connection and of silence, of a whole answer where one is limited at all, and where
  // it is not, until the caller's deadline.
  std::optional<std::chrono::milliseconds> silence = {};
  std::optional<std::chrono::milliseconds> whole = {};

  mutable std::mutex mutex = {};
  int sent = 0;
  std::vector<std::chrono::milliseconds> waits = {};  // between attempts, which nobody waited
};

// A client that asks through `transport`, waits for nothing, and writes down what it does. Both outlive it.
std::unique_ptr<HttpClient> make_watched_client(Transport& transport, Wire& wire);

}  // namespace modlock::test
