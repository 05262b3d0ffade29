#include "plugin/engine/run.h"

#include <utility>

namespace modlock {

Run::Run(RunOptions options) : options_(std::move(options)) {}

Run Run::for_many_roots(RunOptions options) {
  Run run(std::move(options));
  run.query_once();
  return run;
}

void Run::query_once() {
  if (!shared_->networks) {
    shared_->networks.emplace();
  }
}

Run Run::for_root() const {
  Run run = next(options_);
  run.options_.progress = &null_progress();
  run.counters_ = counters_;
  return run;
}

Run Run::next(RunOptions options) const {
  Run run(std::move(options));
  run.shared_ = shared_;
  return run;
}

Context Run::context(bool offline) const {
  return {.stop = options_.stop,
          .deadline = options_.deadline,
          .offline = offline,
          .log = options_.log,
          .progress = options_.progress,
          .stats = &counters_->stats};
}

messages::RunStats Run::stats() const {
  const auto elapsed = std::chrono::steady_clock::now() - counters_->started;
  return {
      .requests = counters_->stats.requests,
      .bytes = counters_->stats.bytes,
      .cache_hits = counters_->stats.cache_hits,
      .elapsed_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count())};
}

}  // namespace modlock
