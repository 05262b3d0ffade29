#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "plugin/cli/command_line.h"
#include "plugin/cli/host.h"
#include "plugin/cli/source_check.h"
#include "plugin/engine/root_request.h"
#include "plugin/resolve/single_call.h"

namespace modlock::cli {

// The lock entry of what Terragrunt downloads for a unit. A hook cannot choose that, only refuse what is not locked.
inline constexpr std::string_view kUnitSourceKey = "terragrunt:source";

// Looks after that entry in the lock file of the working directory.
class SourceHook {
 public:
  // `tell` is given one line for each entry that is locked, locked again or restored.
  SourceHook(const CommandLine& line, const Host& host, DownloadedSource downloaded,
             std::function<void(const std::string&)> tell)
      : line_(line), host_(host), downloaded_(std::move(downloaded)), tell_(std::move(tell)) {}

  // Locks the source as the mode says, and checks what was downloaded against it. Nothing where the unit names no
  // source that can be locked. If it cannot be determined what the unit names, that is a warning, FROZEN under --strict
  // and in CI, and nothing for units of --allow-unchecked-source. Errors: those of plan_single_call(); HASH_MISMATCH
  // naming the files that differ.
  Result<Diagnostics> prepare(PlanMode mode);
  // Puts the entry back that the client has dropped. Errors: those of open_lock(); IO_ERROR.
  Result<void> restore(const ModuleLocks& known);
  // Without network. Errors: FROZEN where no entry answers the source, or it cannot be determined (as above); MISSING
  // where nothing is known of the locked package; HASH_MISMATCH as above.
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

  const CommandLine& line_;
  const Host& host_;
  const DownloadedSource downloaded_;
  const std::function<void(const std::string&)> tell_;
};

}  // namespace modlock::cli
