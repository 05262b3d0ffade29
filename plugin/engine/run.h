#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "backends/base/context.h"
#include "plugin/engine/network.h"
#include "protocol/base/log.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// When a run has to end, and who hears of it. What is referred to outlives the run.
struct RunOptions {
  std::stop_token stop = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  Log* log = &null_log();
  Progress* progress = &null_progress();
};

// One call of the engine, or several that belong together: its context, its statistics and its networks. A method of
// Engine also leaves here what a caller may want to know if it fails.
class Run {
 public:
  explicit Run(RunOptions options = {});

  // A run over many roots. It asks each source once, what it fetches is fresh for all roots, and its requests count
  // for all of them together.
  static Run over_roots(RunOptions options);
  // The part of a run over many roots that is about one of them. Any thread; each part is for one thread.
  Run for_root() const;

  const RunOptions& options() const { return options_; }
  // The context for what is below the engine. It refers to the statistics of the run.
  Context context(bool offline) const;
  messages::RunStats stats() const;  // so far
  // Null: the run has no networks of its own, and those of the engine serve it.
  NetworkPool* networks() const { return shared_->networks ? &*shared_->networks : nullptr; }
  // What was fetched since then is fresh; nullopt: since each call.
  std::optional<std::filesystem::file_time_type> began() const { return shared_->began; }

  Diagnostics diagnostics = {};                // of the result
  std::vector<messages::Change> changes = {};  // with FROZEN: what would change

 private:
  struct Shared {
    Stats stats;
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    std::optional<std::filesystem::file_time_type> began = {};
    std::optional<NetworkPool> networks = {};
  };

  Run(RunOptions options, std::shared_ptr<Shared> shared);

  RunOptions options_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace modlock
