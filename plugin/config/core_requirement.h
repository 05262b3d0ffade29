#pragma once

#include <optional>
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
    language,          // a language block, which older releases and Terraform do not know; no constraint
  };
  Kind kind = Kind::required_version;
  std::string constraint = {};
  Location location = {};             // of the constraint, or of the language block's header
  bool tofu_file = false;             // .tofu or .tofu.json
  bool overridden = false;            // up to OpenTofu 1.11 an override file's required_version replaces it
  std::optional<Error> problem = {};  // why `constraint` is none
};

// Finds them in the files of a module, in file order, and checks the values in language blocks (edition, experiments, a
// second compatible_with for OpenTofu, a block in an override file). What else may stand there, and that Terraform has
// no such block, is check_structure()'s. A constraint of null is none. Blocks with labels, which they must not have,
// are passed over.
std::vector<CoreRequirement> read_core_requirements(const std::vector<ConfigText>& files, ClientKind tool,
                                                    Diagnostics& diagnostics);

// Whether a release obeys the requirement at all: `required_version` counts for OpenTofu before 1.12 and for Terraform
// in every file unless overridden, from 1.12 on only in .tofu files and there always; `compatible_with` from 1.12 on; a
// language block concerns the releases before. `version` is "1.12.3" or "1.13.0-rc1".
bool applies(const CoreRequirement& requirement, ClientKind tool, const std::string& version);

// What `version` of the tool would say to these requirements. CONSTRAINT_CONFLICT for those that exclude it (a
// prerelease counts as its release); from OpenTofu 1.12 on these hide all others. CONFIG_PARSE for a language block
// before 1.12, and for a constraint that is none or names a prerelease; as a warning for a compatible_with that admits
// 1.11.0. Locations as in the requirements.
Diagnostics check_core_requirements(const std::vector<CoreRequirement>& requirements, ClientKind tool,
                                    const std::string& version);

}  // namespace modlock
