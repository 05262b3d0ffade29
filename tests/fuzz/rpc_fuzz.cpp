// Whatever a line holds, it becomes messages of which each can be answered with JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/base/json.h"
#include "protocol/rpc/rpc.h"

namespace {

using namespace modlock;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Message& message) {
  require(message.params.isObject());
  const std::string id = message.id ? message.id->token : "null";
  switch (message.kind) {
    case Message::Kind::request:
      require(message.id.has_value());
      require(parse_json(encode_result(id, "{}")).has_value());
      break;
    case Message::Kind::invalid: {
      const auto answer = parse_json(encode_error(id, message.error));
      require(answer.has_value() && (*answer)["error"]["code"].asInt() < 0);
      break;
    }
    case Message::Kind::notification:
      require(!message.id.has_value());
      break;
    case Message::Kind::ignored:
      require(!message.error.message.empty());
      break;
  }
  if (!message.progress_token.empty()) require(parse_json("[" + message.progress_token + "]").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const Incoming incoming = parse_incoming(line);
  require(!incoming.messages.empty() && (incoming.is_batch || incoming.messages.size() == 1));
  for (const Message& message : incoming.messages) check(message);
  if (const auto value = parse_json(line)) {
    const auto again = parse_json(write_json(*value));
    require(again.has_value() && *again == *value);
  }
  return 0;
}
