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
  std::optional<std::string> source = {};  // absent where the call has none that can be resolved
  std::optional<std::string> source_kind = {};
  std::optional<std::string> raw_source = {};  // the expression as it stands in the file, where it may be shown
  std::optional<std::string> constraint = {};
  std::vector<Location> constraint_locations = {};  // of its parts: the `version` argument, then our settings
  Location location = {};                           // of the source
  std::optional<std::string> locked_version = {};
  bool is_static = true;                        // written out, without references
  std::optional<std::string> repeated_by = {};  // "count" or "for_each"
};

struct InspectedConstraint {
  std::string text;
  std::string module;  // key; "" is the root
  Location location;
};

struct InspectedProvider {
  std::string address;
  std::optional<std::string> local_name = {};
  std::vector<InspectedConstraint> constraints = {};
  std::vector<std::string> modules = {};       // keys of those that need it; "" is the root
  std::optional<std::string> implied_by = {};  // what needs it where nothing declares it: "aws_instance.web", "state"
  bool builtin = false;                        // part of the client, never locked
};

// What a module says about the release of the client.
struct InspectedCoreVersion {
  std::string from;  // "required_version", "compatible_with", "language"
  std::string constraint;
  std::string module;
  Location location;
};

struct ConfigInspectResult {
  std::vector<InspectedFile> files;
  std::vector<InspectedModule> modules;
  std::vector<InspectedProvider> providers;
  std::vector<InspectedCoreVersion> core_versions;
  Diagnostics diagnostics;
};
Json::Value encode(const InspectedProvider& provider);
Json::Value encode(const InspectedCoreVersion& requirement);
Json::Value encode(const ConfigInspectResult& result);

}  // namespace modlock::messages
