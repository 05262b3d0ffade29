#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/install/overrides.h"
#include "plugin/mirror/locked_repositories.h"
#include "plugin/resolve/plan.h"

namespace modlock {

// A registry module as the mirror offers it: only in the locked version.
struct MirroredModule {
  std::string host;     // in ASCII, with its port if any
  std::string name;     // "namespace/name/system"
  std::string version;  // canonical
  std::string h1 = {};
  std::filesystem::path directory = {};  // the package
  std::string subdir = {};               // the directory of the module in it according to the registry; empty: its root
};

struct MirroredModules {
  std::vector<MirroredModule> modules;  // by host, then by name
  LockedRepositories repositories;      // not cached yet
  Diagnostics warnings;
};

// Returns the modules and repositories that a mirror can serve, from a plan made under frozen without changes. One
// warning, LOCK_UNENFORCED, names the calls of other sources (OCI, archives, git sources whose commit no branch or tag
// can name), except calls whose effective source pins the locked content (OverridePlan::sources). Errors:
// CONSTRAINT_CONFLICT if a module, or a reference of a repository, is locked to different packages, because a mirror
// serves the same package to all calls.
Result<MirroredModules> mirrored_modules(const Plan& plan, const OverridePlan& overrides);

}  // namespace modlock
