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

Json::Value encode(const InspectedProvider& provider) {
  Json::Value item(Json::objectValue);
  item["address"] = provider.address;
  set_if(item, "localName", provider.local_name);
  Json::Value& constraints = item["constraints"] = Json::arrayValue;
  for (const InspectedConstraint& constraint : provider.constraints) {
    Json::Value one(Json::objectValue);
    one["text"] = constraint.text;
    one["module"] = constraint.module;
    set_location(one, constraint.location);
    constraints.append(std::move(one));
  }
  item["modules"] = encode_strings(provider.modules);
  set_if(item, "impliedBy", provider.implied_by);
  if (provider.builtin) {
    item["builtin"] = true;
  }
  return item;
}

Json::Value encode(const InspectedCoreVersion& requirement) {
  Json::Value item(Json::objectValue);
  item["from"] = requirement.from;
  if (!requirement.constraint.empty()) {
    item["constraint"] = requirement.constraint;
  }
  item["module"] = requirement.module;
  set_location(item, requirement.location);
  return item;
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
    set_if(item, "source", module.source);
    set_if(item, "sourceKind", module.source_kind);
    set_if(item, "rawSource", module.raw_source);
    set_if(item, "constraint", module.constraint);
    for (const Location& location : module.constraint_locations) {
      item["constraintLocations"].append(to_json(location));
    }
    set_if(item, "lockedVersion", module.locked_version);
    set_location(item, module.location);
    item["static"] = module.is_static;
    if (module.repeated_by) {
      item["repeated"] = true;
      item["repeatedBy"] = *module.repeated_by;
    }
    modules.append(std::move(item));
  }
  out["providers"] = encode_list(result.providers);
  out["coreVersion"] = encode_list(result.core_versions);
  out["diagnostics"] = to_json(result.diagnostics);
  return out;
}

}  // namespace modlock::messages
