#include "protocol/rpc/lifecycle.h"

#include <fmt/format.h>

namespace modlock {

bool is_lifecycle_method(std::string_view method) {
  return method == "initialize" || method == "initialized" || method == "shutdown" || method == "exit";
}

Result<void> Lifecycle::admit(std::string_view method, bool in_batch) const {
  if (in_batch && is_lifecycle_method(method)) {
    return fail(Code::invalid_request, fmt::format("{} must not be part of a batch", method),
                "send it as a line of its own");
  }
  if (state_ == State::draining) {
    return fail(Code::shutting_down, fmt::format("{} came after shutdown", method),
                "start a new process for more requests");
  }
  if (method == "initialized" || method == "exit" || method == "$/cancelRequest") {
    return fail(Code::invalid_request, fmt::format("{} is a notification", method), "send it without an id");
  }
  if (method == "initialize") {
    if (state_ == State::ready) {
      return fail(Code::invalid_request, "initialize came a second time", "start a new process for a new session");
    }
    return {};
  }
  if (state_ == State::fresh && method != "rpc.discover" && method != "ping") {
    return fail(Code::not_initialized, fmt::format("{} came before initialize", method), "send initialize first");
  }
  return {};
}

}  // namespace modlock
