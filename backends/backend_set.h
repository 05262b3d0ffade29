#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/backend.h"

namespace modlock {

// The backends of one process, and the rule which serves a source: the first that says so.
class BackendSet {
 public:
  void add(std::unique_ptr<BackendCore> core, BackendOptions options = {}) {
    backends_.push_back(std::make_unique<Backend>(std::move(core), options));
  }

  // Null if none serves the source.
  Backend* find(const Source& source) const {
    for (const auto& backend : backends_) {
      if (backend->serves(source)) {
        return backend.get();
      }
    }
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace modlock
