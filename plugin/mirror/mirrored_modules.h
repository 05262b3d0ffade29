#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "plugin/install/overrides.h"
#include "plugin/resolve/plan.h"

namespace modlock {

// A git repository as the mirror offers it: only with the locked commits.
struct LockedRepository {
  SourceAddress source;                                // of one of its calls
  std::map<std::string, std::string> references = {};  // full names -> commits
  std::map<std::string, FetchRequest> requests = {};   // by commit
  std::filesystem::path cached = {};                   // Backend::repository_with()
  std::vector<std::string> calls = {};                 // keys, without those whose source pins the locked content
  bool is_served = true;
};
// By SourceAddress::package_url, which a client passes to git.
using LockedRepositories = std::map<std::string, LockedRepository>;

// The branch that HEAD of a repository of the mirror names.
inline constexpr const char* kMirrorHead = "refs/heads/modlock-head";

// Returns the full name of the reference by which a client finds the commit in its clone, if `ref` is what the source
// names ("v1", "main", a commit; empty: HEAD). Empty: there is none ("v1~2").
std::string mirrored_reference(std::string_view ref, const std::string& commit);

// Writes a bare repository for each into `directory`, which borrows the objects of the cached one. Returns the
// configuration with which git uses them instead of the URLs, and only for exactly these URLs: a longer one, such as
// that of another repository beside it, stays what the configuration of the user makes of it. It contains the secrets
// of the URLs. Errors: SOURCE_UNSUPPORTED if a rule of the user rewrites one of the URLs as a whole, because git takes
// the first; IO_ERROR; those of git::GitConfiguration::of().
Result<std::string> write_locked_repositories(const LockedRepositories& repositories,
                                              const std::filesystem::path& directory, const Context& context);

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
