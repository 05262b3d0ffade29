#include "protocol/messages/session.h"

#include "protocol/messages/describe.h"

namespace modlock::messages {

Json::Value schema_of(const Null*) {
  return Describe::typed("null");
}

Json::Value schema_of(const AnyObject*) {
  return Describe::typed("object");
}

Json::Value schema_of(const Token*) {
  Json::Value schema(Json::objectValue);
  schema["type"].append("string");
  schema["type"].append("integer");
  return schema;
}

}  // namespace modlock::messages
