#pragma once

#include <utility>
#include <vector>

#include "backends/remote/closure.h"
#include "backends/remote/layout.h"
#include "protocol/base/result.h"

namespace modlock::test {

// Returns all closures of a layout. Errors: those of Layout::closure().
inline Result<std::vector<remote::NamedClosure>> closures_of(const remote::Layout& layout) {
  std::vector<remote::NamedClosure> closures;
  for (const remote::TaggedClosure& one : layout.listed()) {
    MODLOCK_TRY(auto closure, layout.closure(one));
    closures.push_back({one.tag, std::move(closure)});
  }
  return closures;
}

}  // namespace modlock::test
