#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/source_text.h"
#include "plugin/engine/network.h"
#include "protocol/base/log.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// When a run has to end, and the receivers of its reports. References outlive the run.
struct RunOptions {
  std::stop_token stop = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  Log* log = &null_log();
  Progress* progress = &null_progress();
};

// One call of the engine, or several related calls: the context, statistics and networks. Methods of Engine also store
// results here that a caller may need if they fail.
class Run {
 public:
  explicit Run(RunOptions options = {});

  // Creates a run over many roots. It queries each source once.
  static Run for_many_roots(RunOptions options);
  // Creates the part of this run for one root, without progress. The requests of all parts are counted together. May be
  // called from any thread; each part is for one thread.
  Run for_root() const;
  // Creates another run that shares the networks and the begin of this one, with its own statistics. May be called from
  // any thread.
  Run next(RunOptions options) const;

  const RunOptions& options() const { return options_; }
  // Returns the context for the layers below the engine. It refers to the statistics of the run.
  Context context(bool offline) const;
  messages::RunStats stats() const;  // so far, with the parts for roots
  // Gives the run networks of its own, if it has none: it queries each source once from now on.
  void query_once();
  // Returns null if the run has no networks of its own and uses those of the engine.
  NetworkPool* networks() const { return shared_->networks ? &*shared_->networks : nullptr; }
  // Whether the remote store, or the registry that --from names, could not be reached in this run. Thread-safe.
  std::atomic<bool>& remote_is_down() const { return shared_->remote_is_down; }
  std::atomic<bool>& bundle_is_down() const { return shared_->bundle_is_down; }
  // Packages fetched since this time are fresh.
  std::filesystem::file_time_type began() const { return shared_->began; }

  Diagnostics diagnostics = {};                // of the result
  std::vector<messages::Change> changes = {};  // with FROZEN: the required changes
  Documents documents = {};                    // of the request; they know whether they were read
  std::shared_ptr<ReadTexts> texts = std::make_shared<ReadTexts>();

 private:
  struct Counters {
    Stats stats;
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  };
  struct Shared {
    std::filesystem::file_time_type began = std::filesystem::file_time_type::clock::now();
    std::optional<NetworkPool> networks = {};
    std::atomic<bool> remote_is_down = false;
    std::atomic<bool> bundle_is_down = false;
  };

  RunOptions options_;
  std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace modlock
