#pragma once

#include <cstddef>

#include "plugin/engine/engine.h"
#include "protocol/messages/fields.h"
#include "protocol/rpc/method_table.h"

namespace modlock {

struct ServerLimits {
  std::size_t max_in_flight = 8;
  std::size_t max_message_bytes = std::size_t{8} << 20U;
};

// Returns all methods, including `initialize`. Each decodes its params, calls the engine, and encodes the result.
// `engine` outlives the table.
MethodTable make_method_table(Engine& engine, const ServerLimits& limits);

// Returns the run of a request.
RunOptions run_options(const RequestContext& request);

// Returns the additional data of an error: the changes of FROZEN as a member `changes`. Null if there are none.
Json::Value error_data(const Run& run);

}  // namespace modlock
