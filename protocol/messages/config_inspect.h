#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/root_params.h"

namespace modlock::messages {

Result<RootParams> decode_config_inspect(const Json::Value& params, std::vector<std::string>& unknown);

struct InspectedFile {
  std::string path;
  std::string role;  // "primary", "override", "test"
  std::string sha256;
};

struct InspectedModule {
  std::string key;
  std::string source;
  std::string source_kind;
  std::optional<std::string> constraint;
  Location location;  // of the source
  std::optional<std::string> locked_version;
};

struct ConfigInspectResult {
  std::vector<InspectedFile> files;
  std::vector<InspectedModule> modules;
  Diagnostics diagnostics;
};
Json::Value encode(const ConfigInspectResult& result);

}  // namespace modlock::messages
