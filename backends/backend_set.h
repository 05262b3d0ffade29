#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"

namespace modlock {

// The backends of one process, and the rule which serves a source: the first that says so.
class BackendSet {
 public:
  // Sets may share a backend.
  void add(std::shared_ptr<Backend> backend) { backends_.push_back(std::move(backend)); }

  // Null where nobody serves the source.
  Backend* find(const Source& source) const {
    for (const auto& backend : backends_) {
      if (backend->serves(source)) {
        return backend.get();
      }
    }
    return nullptr;
  }

 private:
  std::vector<std::shared_ptr<Backend>> backends_;
};

}  // namespace modlock
