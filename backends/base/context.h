#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "protocol/base/log.h"
#include "protocol/base/result.h"

namespace modlock {

struct Source;

// What one run cost: counted where the cost arises, reported in `stats`.
struct Stats {
  std::atomic<std::uint64_t> requests{0};    // listings and fetches that left the process for a remote
  std::atomic<std::uint64_t> bytes{0};       // bytes received, where they are known
  std::atomic<std::uint64_t> cache_hits{0};  // packages and listings that the store answered
};

// What a child process may use before it is ended. What it prints is limited by its command.
struct ChildLimits {
  std::uint64_t memory = std::uint64_t{512} << 20U;   // of it and of what it started, without mapped files
  std::uint64_t file_size = std::uint64_t{4} << 30U;  // of each file that it writes
  std::chrono::milliseconds total{std::chrono::minutes{10}};
  std::chrono::milliseconds idle{std::chrono::seconds{30}};  // without output, and without work that the kernel counts
};

// What every call that can block is given. No globals. The referenced objects outlive the call.
struct Context {
  std::stop_token stop = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  bool offline = false;  // no request at all: what is not in the store is OFFLINE_MISS
  Log* log = &null_log();
  Progress* progress = &null_progress();
  Stats* stats = nullptr;  // may be null
  ChildLimits children = {};
  // SOURCE_DENIED where policy forbids a source. Whoever is led from one source to another (a redirect, a registry's
  // answer) asks before it sends a request there. Empty: every source is allowed.
  std::function<Result<void>(const Source& source)> check_source = {};

  // REQUEST_CANCELLED or DEADLINE_EXCEEDED once the run should end, else success.
  Result<void> check() const {
    if (stop.stop_requested()) {
      return fail(Code::request_cancelled, "the request was cancelled");
    }
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      return fail(Code::deadline_exceeded, "the deadline of the request has passed",
                  "allow more time with a larger deadlineMs");
    }
    return {};
  }
  void count_request() const {
    if (stats != nullptr) {
      ++stats->requests;
    }
  }
  void count_cache_hit() const {
    if (stats != nullptr) {
      ++stats->cache_hits;
    }
  }
};

}  // namespace modlock
