#include "protocol/messages/workspace.h"

namespace modlock::messages {
namespace {

constexpr std::uint64_t kMostJobs = 64;

}  // namespace

Json::Value schema_of(const Jobs*) {
  Json::Value schema;
  schema["type"] = "integer";
  schema["minimum"] = 1;
  schema["maximum"] = Json::UInt64(kMostJobs);
  return schema;
}

void read_member(ObjectReader& in, const char* name, Jobs& jobs) {
  jobs.count = in.unsigned_integer(name).value_or(jobs.count);
  if (jobs.count < 1 || jobs.count > kMostJobs) {
    in.reject(name, "expected a number from 1 to 64");
  }
}

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
