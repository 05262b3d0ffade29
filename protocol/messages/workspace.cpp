#include "protocol/messages/workspace.h"

namespace modlock::messages {

Json::Value json_of(const WorkspaceEntry& entry) {
  return entry.members;
}

Json::Value schema_of(const WorkspaceEntry*) {
  Json::Value schema;
  schema["type"] = "object";
  schema["properties"]["root"]["type"] = "string";
  schema["properties"]["error"]["type"] = "object";
  schema["properties"]["error"]["description"] = "why there is no result, as in a response";
  schema["required"].append("root");
  return schema;
}

}  // namespace modlock::messages
