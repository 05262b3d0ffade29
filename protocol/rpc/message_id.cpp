#include "protocol/rpc/message_id.h"

#include "protocol/base/json.h"

namespace modlock {

std::optional<MessageId> parse_message_id(std::string_view token) {
  if (token.empty()) {
    return std::nullopt;
  }
  if (token.front() == '"') {
    const Result<Json::Value> value = parse_json(token);
    if (!value || !value->isString()) {
      return std::nullopt;
    }
    return MessageId{.token = std::string(token), .key = "s" + value->asString()};
  }
  const std::string_view digits = token.substr(token.front() == '-' ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  return MessageId{.token = std::string(token), .key = "i" + std::string(digits == "0" ? digits : token)};
}

}  // namespace modlock
