#include "protocol/messages/config_inspect.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {

Result<RootParams> decode_config_inspect(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  RootParams out = decode_root_params(in);
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const ConfigInspectResult& result) {
  Json::Value out(Json::objectValue);
  Json::Value& files = out["files"] = Json::arrayValue;
  for (const InspectedFile& file : result.files) {
    Json::Value item(Json::objectValue);
    item["path"] = file.path;
    item["role"] = file.role;
    item["sha256"] = file.sha256;
    files.append(std::move(item));
  }
  Json::Value& modules = out["modules"] = Json::arrayValue;
  for (const InspectedModule& module : result.modules) {
    Json::Value item(Json::objectValue);
    item["key"] = module.key;
    item["source"] = module.source;
    item["sourceKind"] = module.source_kind;
    set_if(item, "constraint", module.constraint);
    set_if(item, "lockedVersion", module.locked_version);
    item["path"] = module.location.path;
    if (module.location.range) {
      item["range"] = to_json(*module.location.range);
    }
    item["static"] = true;  // what is not static is a diagnostic and no module
    modules.append(std::move(item));
  }
  out["providers"] = Json::arrayValue;
  out["coreVersion"] = Json::arrayValue;
  out["diagnostics"] = to_json(result.diagnostics);
  return out;
}

}  // namespace modlock::messages
