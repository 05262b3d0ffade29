#pragma once

#include <json/value.h>

#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/describe.h"

namespace modlock::messages {

// A method as the documents of the protocol have it.
struct MethodSchema {
  enum class Kind { request, notification, told };  // `told` are notifications of ours
  std::string name;
  std::string summary;
  Kind kind = Kind::request;
  std::vector<Describe::Field> params;
  Json::Value result = {};   // null for notifications
  Json::Value example = {};  // params; null: none
};

// Every method, the session first, and the types that they name.
std::vector<MethodSchema> list_methods(SchemaTypes& types);

}  // namespace modlock::messages
