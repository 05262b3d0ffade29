#include "protocol/messages/modules_install.h"

#include "protocol/error_json.h"
#include "protocol/messages/encode.h"

namespace modlock::messages {
namespace {

Json::Value encode_modules(const std::vector<InstalledModule>& modules) {
  Json::Value out(Json::arrayValue);
  for (const InstalledModule& module : modules) {
    Json::Value item(Json::objectValue);
    item["key"] = module.key;
    item["dir"] = module.dir;
    set_if(item, "h1", module.h1);
    out.append(std::move(item));
  }
  return out;
}

}  // namespace

Result<ModulesInstallParams> decode_modules_install(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  ModulesInstallParams out;
  out.root = decode_root_params(in);
  out.lock = decode_lock(in);
  out.overrides = in.boolean("overrides");
  out.offline = in.boolean("offline");
  if (auto ok = in.finish(); !ok) {
    return fail(std::move(ok.error()));
  }
  unknown = in.unknown();
  return out;
}

Json::Value encode(const ModulesInstallResult& result) {
  Json::Value out(Json::objectValue);
  out["installed"] = encode_modules(result.installed);
  out["reused"] = encode_modules(result.reused);
  out["removed"] = encode_modules(result.removed);
  out["manifest"] = result.manifest;
  out["diagnostics"] = to_json(result.diagnostics);
  out["stats"] = encode(result.stats);
  return out;
}

}  // namespace modlock::messages
