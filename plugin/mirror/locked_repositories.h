#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/address/source.h"
#include "backends/backend.h"
#include "protocol/base/result.h"

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

}  // namespace modlock
