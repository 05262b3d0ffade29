#pragma once

#include <json/value.h>

#include <memory>
#include <mutex>

#include "backends/base/context.h"
#include "backends/external/connection.h"
#include "backends/external/external_backend.h"

namespace modlock::external {

// The program of a backend: started when it is first asked and again after it has ended, one process at a time.
// Thread-safe.
class Program {
 public:
  explicit Program(ExternalCommand command) : command_(std::move(command)) {}

  // The result of the answer. A call whose process ends by itself is asked of another one, once. Errors: those of
  // Connection::call() and Connection::open(), and of check_external_command().
  Result<Json::Value> call(const Call& call, const Context& context);

 private:
  Result<std::shared_ptr<Connection>> connection(const Call& call);

  const ExternalCommand command_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace modlock::external
