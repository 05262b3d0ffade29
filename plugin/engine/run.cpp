#include "plugin/engine/run.h"

#include <utility>

namespace modlock {

Run::Run(RunOptions options) : Run(std::move(options), std::make_shared<Shared>()) {}

Run::Run(RunOptions options, std::shared_ptr<Shared> shared)
    : options_(std::move(options)), shared_(std::move(shared)) {}

Run Run::over_roots(RunOptions options) {
  Run run(std::move(options));
  run.shared_->began = std::filesystem::file_time_type::clock::now();
  run.shared_->networks.emplace();
  return run;
}

Run Run::for_root() const {
  RunOptions options = options_;
  options.progress = &null_progress();
  return {std::move(options), shared_};
}

Context Run::context(bool offline) const {
  return {.stop = options_.stop,
          .deadline = options_.deadline,
          .offline = offline,
          .log = options_.log,
          .progress = options_.progress,
          .stats = &shared_->stats};
}

messages::RunStats Run::stats() const {
  const auto elapsed = std::chrono::steady_clock::now() - shared_->started;
  return {
      .requests = shared_->stats.requests,
      .bytes = shared_->stats.bytes,
      .cache_hits = shared_->stats.cache_hits,
      .elapsed_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count())};
}

}  // namespace modlock
