#include "backends/base/context.h"

namespace modlock {

Result<void> Context::check() const {
  if (stop.stop_requested()) {
    return fail(Code::request_cancelled, "the request was cancelled");
  }
  if (deadline && std::chrono::steady_clock::now() >= *deadline) {
    return fail(Code::deadline_exceeded, "the deadline of the request has passed",
                "allow more time with a larger deadlineMs");
  }
  return {};
}

}  // namespace modlock
