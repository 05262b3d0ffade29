#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/install/overrides.h"
#include "plugin/resolve/plan.h"

namespace modlock {

// A module of a registry as the mirror offers it: in one version, the locked one.
struct MirroredModule {
  std::string host;     // in ASCII, with its port where it has one
  std::string name;     // "namespace/name/system"
  std::string version;  // canonical
  std::string h1 = {};
  std::filesystem::path directory = {};  // the package
  std::string subdir = {};               // where the registry said that the module lies in it; empty: its root
};

struct MirroredModules {
  std::vector<MirroredModule> modules;  // by host, then by name
  Diagnostics warnings;
};

// What a mirror of module registries can serve of a plan that was made under frozen, without changes. Calls of other
// sources (git, OCI, archives) are named by one warning, LOCK_UNENFORCED, but those of which the source in force names
// what is locked (OverridePlan::sources). Errors: CONSTRAINT_CONFLICT where a module is locked to different packages: a
// registry gives one answer to all.
Result<MirroredModules> mirrored_modules(const Plan& plan, const OverridePlan& overrides);

}  // namespace modlock
