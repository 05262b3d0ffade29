#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock {

// The id of a request: a string or an integer of any length.
struct MessageId {
  std::string token = {};  // as it was written, to be echoed
  std::string key = {};    // equal for equal ids, however they were written
};

// `token` is the source text of a JSON value. Nothing where it is neither a string nor an integer (written without
// fraction and exponent).
std::optional<MessageId> parse_message_id(std::string_view token);

}  // namespace modlock
