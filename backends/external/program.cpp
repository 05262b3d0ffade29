#include "backends/external/program.h"
#include "protocol/base/result.h"

#include <fmt/format.h>

#include <utility>

namespace modlock::external {
namespace {

constexpr int kProcessesOfACall = 2;

}  // namespace

Result<Json::Value> Program::call(const Call& call, const Context& context) {
  for (int ended = 0;;) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(const auto open, connection(call));
    auto result = open->call(call, context);
    if (result) {
      return std::move(*result);
    }
    const auto again = result.error().again;
    ended += again == CallFailure::Retry::once ? 1 : 0;
    if (again == CallFailure::Retry::no || ended == kProcessesOfACall) {
      return fail(std::move(result.error().error));
    }
  }
}

Result<std::shared_ptr<Connection>> Program::connection(const Call& call) {
  MODLOCK_TRY(check_external_command(command_));
  const std::lock_guard lock(mutex_);
  if (connection_ && connection_->is_open()) {
    return connection_;
  }
  auto opened = Connection::open(command_);
  if (opened) {
    connection_ = *opened;
    return opened;
  }
  Error error = std::move(opened.error());
  if (error.code == Code::tool_missing) {
    error.message = fmt::format("the backend \"{}\" is needed to {}, and its program \"{}\" is not there",
                                command_.scheme, call.doing, command_.command[0]);
    error.hint = "install the program, or correct the command of the backend in your settings";
    return fail(std::move(error));
  }
  return fail(
      with_note(std::move(error), fmt::format("while the backend \"{}\" was to {}", command_.scheme, call.doing)));
}

}  // namespace modlock::external
