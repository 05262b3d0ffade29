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

  // Creates a run over many roots. It queries each source once, its fetched packages are fresh for all roots, and its
  // requests are counted together.
  static Run over_roots(RunOptions options);
  // Creates the part of a run over many roots for one of them. May be called from any thread; each part is for one
  // thread.
  Run for_root() const;

  const RunOptions& options() const { return options_; }
  // Returns the context for the layers below the engine. It refers to the statistics of the run.
  Context context(bool offline) const;
  messages::RunStats stats() const;  // so far
  // Returns null if the run has no networks of its own and uses those of the engine.
  NetworkPool* networks() const { return shared_->networks ? &*shared_->networks : nullptr; }
  // Packages fetched since this time are fresh; nullopt: since each call.
  std::optional<std::filesystem::file_time_type> began() const { return shared_->began; }

  Diagnostics diagnostics = {};                // of the result
  std::vector<messages::Change> changes = {};  // with FROZEN: the required changes

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
