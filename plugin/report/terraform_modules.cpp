#include "plugin/report/terraform_modules.h"

#include <optional>
#include <string>

namespace modlock {

Json::Value terraform_modules(const std::vector<messages::InspectedModule>& modules) {
  Json::Value document;
  document["format_version"] = "1.0";
  Json::Value& records = document["modules"] = Json::arrayValue;
  for (const messages::InspectedModule& module : modules) {
    if (module.of_tests) {
      continue;
    }
    Json::Value& record = records.append(Json::objectValue);
    const auto add = [&](const char* member, const std::optional<std::string>& text) {
      if (text) {
        record[member] = *text;
      }
    };
    record["key"] = module.key.substr(module.key.rfind('.') + 1);
    record["source"] = module.source.value_or(module.raw_source.value_or(""));
    record["version"] = module.source_kind == "registry" ? module.locked_version.value_or("") : "";
    record["path"] = module.key;
    record["locked"] = module.locked;
    add("sourceKind", module.source_kind);
    add("lockedVersion", module.locked_version);
    add("commit", module.commit);
    add("digest", module.digest);
  }
  return document;
}

}  // namespace modlock
