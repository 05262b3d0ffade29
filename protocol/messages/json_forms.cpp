#include <algorithm>

#include "protocol/messages/describe.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/initialize.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/session.h"
#include "protocol/messages/workspace.h"

// Types of messages whose JSON form differs from their fields.
namespace modlock {

Json::Value json_of(const Code& code) {
  return Encode::to_value(to_string(code));
}

Json::Value to_json(const Error& error, const Json::Value& more_data) {
  Json::Value data = Encode::to_value(error);
  if (more_data.isObject()) {
    for (auto it = more_data.begin(); it != more_data.end(); ++it) {
      data[it.name()] = *it;
    }
  }
  Json::Value out(Json::objectValue);
  out["code"] = rpc_code(error.code);
  out["message"] = error.message;
  out["data"] = std::move(data);
  return out;
}

}  // namespace modlock

namespace modlock::messages {
namespace {

constexpr std::uint64_t kMostJobs = 64;

}  // namespace

Result<InitializeParams> decode_initialize(const Json::Value& params, std::vector<std::string>& unknown) {
  auto decoded = decode_params<InitializeParams>(params, unknown);
  if (!decoded) {
    return decoded;
  }
  const auto& offered = decoded->protocol_versions;
  if (std::ranges::find(offered, kProtocolVersion) == offered.end()) {
    return fail(Code::invalid_params, "initialize: none of params.protocolVersions is spoken here, only \"1.0\"",
                "offer \"1.0\" in protocolVersions");
  }
  return decoded;
}

Json::Value schema_of(const Include*) {
  return Describe::text_list_schema({"modules", "providers"});
}

void read_member(ObjectReader& in, const char* name, Include& include) {
  const auto kinds = in.strings(name);
  if (!kinds) {
    return;
  }
  include = {.modules = false, .providers = false};
  for (const std::string& kind : *kinds) {
    include.modules = include.modules || kind == "modules";
    include.providers = include.providers || kind == "providers";
    if (kind != "modules" && kind != "providers") {
      in.reject(name, "expected \"modules\" or \"providers\"");
    }
  }
}

Json::Value schema_of(const Null*) {
  return Describe::typed("null");
}

Json::Value schema_of(const AnyObject*) {
  return Describe::typed("object");
}

Json::Value schema_of(const Token*) {
  Json::Value schema(Json::objectValue);
  schema["oneOf"].append(Describe::typed("string"));
  schema["oneOf"].append(Describe::typed("integer"));
  return schema;
}

Json::Value schema_of(const Jobs*) {
  Json::Value schema = Describe::typed("integer");
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
  Json::Value schema = Describe::typed("object");
  schema["properties"]["root"]["type"] = "string";
  schema["properties"]["error"]["$ref"] = "#/components/schemas/ResponseError";
  schema["required"].append("root");
  return schema;
}

}  // namespace modlock::messages
