#pragma once

#include <string>
#include <vector>

#include "plugin/config/config_files.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// What a module says about the release of the client that may read it.
struct CoreRequirement {
  enum class Kind {
    required_version,  // terraform { required_version = "…" }
    compatible_with,   // language { compatible_with { opentofu = "…" } }
  };
  Kind kind = Kind::required_version;
  std::string constraint = {};
  Location location = {};   // of the constraint
  bool tofu_file = false;   // .tofu or .tofu.json
  bool overridden = false;  // up to OpenTofu 1.11 an override file's required_version replaces it
};

// Finds them in the files of a module, in file order. What is no constant string is none: that is left to the client.
std::vector<CoreRequirement> read_core_requirements(const std::vector<ConfigText>& files, ClientKind tool);

// Whether a release obeys the requirement at all: `required_version` counts for OpenTofu before 1.12 and for Terraform
// in every file unless overridden, from 1.12 on only in .tofu files and there always; `compatible_with` from 1.12 on.
// `version` is "1.12.3" or "1.13.0-rc1".
bool applies(const CoreRequirement& requirement, ClientKind tool, const std::string& version);

// CONSTRAINT_CONFLICT for each of these requirements that excludes `version` of the tool; a prerelease counts as its
// release. Locations as in the requirements.
Diagnostics check_core_requirements(const std::vector<CoreRequirement>& requirements, ClientKind tool,
                                    const std::string& version);

}  // namespace modlock
