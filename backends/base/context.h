#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "protocol/base/log.h"
#include "protocol/base/result.h"

namespace modlock {

struct Source;
class IntactPackages;  // store.h

// The costs of one run, reported in `stats`.
struct Stats {
  std::atomic<std::uint64_t> requests{0};    // listings and fetches that were sent to a remote
  std::atomic<std::uint64_t> bytes{0};       // bytes received, if known
  std::atomic<std::uint64_t> cache_hits{0};  // packages and listings that were found in the store
};

// The limits above which a child process is ended. Command::output_limit limits its output.
struct ChildLimits {
  std::uint64_t memory = std::uint64_t{512} << 20U;   // of it and its descendants, without mapped files
  std::uint64_t file_size = std::uint64_t{4} << 30U;  // of each file that it writes
  std::chrono::milliseconds total{std::chrono::minutes{10}};
  std::chrono::milliseconds idle{std::chrono::seconds{30}};  // without output, I/O or CPU time
};

// Where a server leads, as addresses of archives, without secrets. Both are empty for a source that no server names.
struct ServerHop {
  std::string from = {};  // the URL of the request that is redirected; empty: the response names a URL
  std::string to = {};
};

// The parameters of every call that can block. No globals. The referenced objects outlive the call.
struct Context {
  std::stop_token stop = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  bool offline = false;  // no requests: content that is not in the store is OFFLINE_MISS
  Log* log = &null_log();
  Progress* progress = &null_progress();
  Stats* stats = nullptr;            // may be null
  IntactPackages* intact = nullptr;  // that need no further check in this call; may be null
  ChildLimits children = {};
  // DATA/modules/KEY, where the client would clone a repository, for `gitdir:` conditions of git. Empty: none apply.
  std::filesystem::path clone_directory = {};
  // Returns SOURCE_DENIED if policy forbids a source. Called before a request is sent to a source or URL that a server
  // or a package names; the HTTP client does it for each redirect. Empty: every source is allowed.
  std::function<Result<void>(const Source& source, const ServerHop& hop)> check_source = {};

  // As check_source, which may be empty.
  Result<void> check_allowed(const Source& source, const ServerHop& hop = {}) const {
    return check_source ? check_source(source, hop) : Result<void>();
  }

  // Returns REQUEST_CANCELLED or DEADLINE_EXCEEDED if the run should end, else success.
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
