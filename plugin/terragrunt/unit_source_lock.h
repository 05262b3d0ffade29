#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugin/engine/root_request.h"
#include "plugin/engine/run.h"
#include "plugin/resolve/plan.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// The key of the lock entry for the source that Terragrunt downloads for a unit. A hook cannot choose its version; it
// can only reject content that is not locked.
inline constexpr std::string_view kUnitSourceKey = "terragrunt:source";

// The directory of a package that Terragrunt downloaded, the client's directory in it, and the unit, whose files it has
// copied there.
struct DownloadedSource {
  std::filesystem::path directory;
  std::filesystem::path working_directory;
  std::filesystem::path unit;
};

struct UnitSourceRules {
  std::filesystem::path repository;
  std::string named = {};                         // the source, if --source specifies it
  std::vector<std::string> allow_unchecked = {};  // globs of units, relative to the repository
  bool strict = false;                            // a source that cannot be determined is an error
};

// Manages that entry in the lock file of the working directory.
class UnitSourceLock {
 public:
  // `report` receives one line for each entry that is locked, locked again or restored. `engine` and the references of
  // `run_options` outlive the object.
  UnitSourceLock(const Engine& engine, RunOptions run_options, std::string data_dir, UnitSourceRules rules,
                 DownloadedSource downloaded, std::function<void(const std::string&)> report)
      : engine_(engine),
        run_options_(std::move(run_options)),
        data_dir_(std::move(data_dir)),
        rules_(std::move(rules)),
        downloaded_(std::move(downloaded)),
        report_(std::move(report)) {}

  // Locks the source according to the mode, and checks the downloaded content against it. Does nothing if the unit has
  // no source that can be locked. A source that cannot be determined is a warning; it is FROZEN with `strict` and in
  // CI, and ignored for units of `allow_unchecked`. Errors: those of plan_single_call(); HASH_MISMATCH with the files
  // that differ.
  Result<Diagnostics> prepare(PlanMode mode);
  // Restores the entry after the client has dropped it. Errors: those of open_lock(); IO_ERROR.
  Result<void> restore(const ModuleLocks& known);
  // Sends no request. Errors: FROZEN if no entry matches the source, or it cannot be determined (as above); MISSING if
  // the files of the locked package are not known; HASH_MISMATCH as above.
  Result<void> verify();

 private:
  struct Place {
    RootRequest root;
    LockDocument lock;
  };
  Result<Place> open() const;
  Result<std::optional<ModuleNode>> find_call(const RootRequest& root, Diagnostics& warnings) const;
  Result<void> check_known(Diagnostics& warnings) const;
  Result<void> write(const Place& place, const ModuleLock& entry, std::string_view how) const;
  Result<void> check(const Place& place, const ModuleLock& entry, const LocalPackage& package,
                     const Context& context) const;

  const Engine& engine_;
  const RunOptions run_options_;
  const std::string data_dir_;
  const UnitSourceRules rules_;
  const DownloadedSource downloaded_;
  const std::function<void(const std::string&)> report_;
};

}  // namespace modlock::terragrunt
