#include "protocol/messages/initialize.h"

#include <algorithm>

#include "protocol/messages/encode.h"

namespace modlock::messages {

Result<InitializeParams> decode_initialize(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  InitializeParams out;
  out.protocol_versions = in.strings("protocolVersions").value_or(std::vector<std::string>{});
  out.workspace_roots = in.strings("workspaceRoots").value_or(std::vector<std::string>{});
  if (auto client = in.object("clientInfo")) {
    client->string("name");
    client->string("version");
  }
  in.integer("processId");
  if (auto capabilities = in.object("capabilities")) {
    capabilities->boolean("progress");
    capabilities->boolean("logMessage");
    out.edit_forms = capabilities->strings("editForms").value_or(std::vector<std::string>{});
  }
  if (auto limits = in.object("limits")) {
    limits->unsigned_integer("maxMessageBytes");
  }
  if (auto options = in.object("options")) {
    out.implementation = options->one_of("implementation", {"opentofu", "terraform"});
    out.implementation_version = options->string("implementationVersion");
    out.offline = options->boolean("offline");
    out.cache_dir = options->string("cacheDir");
    out.config_file = options->string("configFile");
    options->string("logLevel");
    for (ObjectReader& backend : options->objects("backends")) {
      out.backends.push_back(
          {backend.required_string("scheme"), backend.strings("command").value_or(std::vector<std::string>{})});
    }
  }
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  const auto& offered = out.protocol_versions;
  if (std::find(offered.begin(), offered.end(), kProtocolVersion) == offered.end()) {
    return fail(Code::invalid_params, "initialize: none of params.protocolVersions is spoken here, only \"1.0\"",
                "offer \"1.0\" in protocolVersions");
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const InitializeResult& result) {
  Json::Value out(Json::objectValue);
  out["protocolVersion"] = std::string(kProtocolVersion);
  out["serverInfo"]["name"] = "tofu-modlock";
  out["serverInfo"]["version"] = result.server_version;
  Json::Value& capabilities = out["capabilities"];
  capabilities["methods"] = encode_strings(result.methods);
  capabilities["backends"] = encode_strings(result.backends);
  capabilities["editForms"] = encode_strings({"fullText", "ranges"});
  capabilities["maxInFlight"] = static_cast<Json::UInt64>(result.max_in_flight);
  out["limits"]["maxMessageBytes"] = static_cast<Json::UInt64>(result.max_message_bytes);
  out["implementation"]["name"] = result.implementation;
  out["implementation"]["version"] = result.implementation_version;
  out["implementation"]["from"] = result.implementation_from;
  return out;
}

}  // namespace modlock::messages
