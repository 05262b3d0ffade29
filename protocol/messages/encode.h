#pragma once

#include "protocol/messages/fields.h"

namespace modlock::messages {

// Any message with `fields`.
template <typename Message>
Json::Value encode(const Message& message) {
  return Encode::to_value(message);
}

}  // namespace modlock::messages
