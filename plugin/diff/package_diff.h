#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "plugin/lock/lock_file.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/result.h"
#include "protocol/messages/update_diff.h"

namespace modlock {

// A module in a package. No root: there is no package on this side.
struct PackagePlace {
  std::filesystem::path root = {};
  std::string directory = {};  // of the module in the package
};

// What the caller of a module uses of it.
struct CallUse {
  Location call = {};                                           // the header of the module block
  std::map<std::string, Location, std::less<>> arguments = {};  // that are set
  std::map<std::string, Location, std::less<>> outputs = {};    // that are referenced, each at its first place
  bool uses_all_outputs = false;                                // `module.NAME` as a whole: any output may be used
  const ProviderLocks* providers = nullptr;                     // the locked ones; null: not known
  std::function<std::string()> client_version = {};             // called if a module has a requirement; "": not known
};

// Compares two packages as a client of this kind reads them. Fills all members except subject, source, from, to and
// comparison. Paths in `before` and `after` of a finding are relative to the packages; those in `call` are those of
// `use`. Without `use` every caller counts as affected. If there is no package before, only risky findings are
// returned, and requirements that the locked providers or the client do not meet. Errors: those of list_tree() and
// read_config_files().
Result<messages::ModuleDiff> diff_packages(const PackagePlace& before, const PackagePlace& after, const CallUse* use,
                                           ClientKind tool, const Context& context);

// A rule of the diff, for documents.
struct DiffRule {
  std::string_view name;
  std::string_view grade;  // the worst one that it may have
  std::string_view text;
};
std::span<const DiffRule> diff_rules();

// Returns how bad a grade is: 3 for breaking, 2 for risky, 1 for notable.
int grade_rank(std::string_view grade);

}  // namespace modlock
