#pragma once

#include <string>
#include <vector>

#include "plugin/config/config_files.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// A module's requirement for the version of the client that reads it.
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

// Returns the requirements in the files of a module, in file order. Values that are not constant strings are ignored
// here: the client reports them.
std::vector<CoreRequirement> read_core_requirements(const std::vector<ConfigText>& files, ClientKind tool);

// Whether a client version checks the requirement. `required_version` applies to OpenTofu before 1.12 and to Terraform
// in every file unless overridden; from 1.12 on it applies only in .tofu files, but always there. `compatible_with`
// applies from 1.12 on. `version` is "1.12.3" or "1.13.0-rc1".
bool applies(const CoreRequirement& requirement, ClientKind tool, const std::string& version);

// Returns CONSTRAINT_CONFLICT for each requirement that excludes `version` of the tool; a prerelease is checked as its
// release. Locations are those of the requirements.
Diagnostics check_core_requirements(const std::vector<CoreRequirement>& requirements, ClientKind tool,
                                    const std::string& version);

}  // namespace modlock
