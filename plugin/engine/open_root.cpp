#include "plugin/engine/open_root.h"

#include <utility>

#include "plugin/engine/engine.h"

namespace modlock {

OpenRoot::OpenRoot(const Engine& engine, Run& run, RootRequest opened)
    : root(std::move(opened)), context(run.context(engine.options().offline)), engine_(engine), run_(run) {}

Result<std::unique_ptr<OpenRoot>> OpenRoot::open(const Engine& engine, Run& run, const messages::RootParams& root,
                                                 const messages::LockParams& lock, Merging merging) {
  auto request = open_root(root, engine);
  if (!request) {
    return fail(std::move(request.error()));
  }
  std::unique_ptr<OpenRoot> opened(new OpenRoot(engine, run, std::move(*request)));
  auto document = open_lock(opened->root, lock, merging == Merging::yes ? &opened->context : nullptr);
  if (!document) {
    return fail(std::move(document.error()));
  }
  opened->lock = std::move(*document);
  opened->judge_sources();
  return opened;
}

const Network& OpenRoot::network() {
  if (network_ == nullptr) {
    network_ = engine_.network(root.implementation.tool, root.implementation.version, run_);
  }
  return *network_;
}

Origin& OpenRoot::origin() {
  if (!origin_) {
    origin_.emplace(network().backends(), engine_.store(), context, engine_.fresh_since(run_));
  }
  return *origin_;
}

void OpenRoot::judge_sources() {
  context.judge_source = source_judge(root.walk.settings);
}

}  // namespace modlock
