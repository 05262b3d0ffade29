#pragma once

#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// Which requests are welcome when: fresh until `initialize` succeeded, ready until `shutdown`, draining from then on.
class Lifecycle {
 public:
  // Whether a request may run now. Errors: NOT_INITIALIZED (fresh: all but initialize, rpc.discover and ping),
  // SHUTTING_DOWN (draining: all), INVALID_REQUEST (a second initialize; a lifecycle method inside a batch; a
  // notification of the protocol that was sent as a request).
  Result<void> admit(std::string_view method, bool in_batch) const;

  void initialized() { state_ = State::ready; }
  void shut_down() { state_ = State::draining; }
  bool is_shut_down() const { return state_ == State::draining; }

 private:
  enum class State { fresh, ready, draining };
  State state_ = State::fresh;
};

// initialize, initialized, shutdown, exit.
bool is_lifecycle_method(std::string_view method);

}  // namespace modlock
