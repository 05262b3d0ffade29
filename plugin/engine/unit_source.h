#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugin/config/source_text.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/plan.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/result.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// The source of a package that another program (Terragrunt) downloads for a unit, and in which the client then runs.
struct UnitSource {
  SourceText source = {};                   // as in a module call
  std::optional<std::string> version = {};  // the constraint of a registry module
};

// What Engine::lock_unit_source(), restore_unit_source() and verify_unit_source() have to know about a unit.
struct UnitSourceOptions {
  messages::RootParams root;         // the working directory of the client, which contains the lock file
  std::string key;                   // of the lock entry; contains a colon, as the keys of hosts do
  std::filesystem::path downloaded;  // the directory of the downloaded package
  // Returns the source as this client would understand it; nullopt: there is none. Adds warnings.
  std::function<Result<std::optional<UnitSource>>(ClientKind tool, Diagnostics& warnings)> find_source;
  // Returns whether a file below `downloaded` is the user's own: copied over the package or generated. Such files count
  // as unchanged, and may have been added.
  std::function<bool(const std::filesystem::path& file)> is_own;
};

struct LockedUnitSource {
  std::optional<Error> unchecked = {};   // why this source can be neither locked nor checked
  std::optional<ModuleLock> entry = {};  // nullopt: there is no source that can be locked
  bool was_locked = false;               // the lock file had an entry of this key
  bool is_restored = false;              // the client had dropped the entry
  bool is_written = false;               // the lock file was changed
  std::optional<HeldMove> moved = {};    // the tag was moved; its entry stays
};

struct VerifiedUnitSource {
  std::optional<Error> unchecked = {};  // as above
  std::optional<Verdict> verdict = {};  // nullopt: there is no source that can be locked
};

// Returns the files in and below a directory that a client may load as configuration, tests or values of variables,
// and the links to directories, which may contain such files. Paths are relative to it and sorted. The directories in
// which git, the client and Terragrunt keep their data are left out. Errors: IO_ERROR.
Result<std::vector<std::string>> loadable_files(const std::filesystem::path& directory);

}  // namespace modlock
