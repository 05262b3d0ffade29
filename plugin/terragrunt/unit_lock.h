#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "backends/base/context.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// Terragrunt runs the client in a working directory of its own, below its cache. The lock file under version control is
// in the unit. It is copied to the working directory before the command, and back after `init` and `providers lock`,
// but without the module blocks, which the client has dropped by then, and never if the module blocks have a file of
// their own. Both files are the same if a unit is its own working directory.
//
// `stack clean` deletes a unit that Terragrunt generates from a stack. The lock file under version control is then at
// its kept_place().
class UnitLock {
 public:
  UnitLock(std::filesystem::path unit, std::filesystem::path working_directory, ClientKind tool);

  // Returns where the lock file of a generated unit is kept: "live/terragrunt-locks/vpc" for
  // "live/.terragrunt-stack/vpc". The unit itself if it is not generated.
  static std::filesystem::path kept_place(const std::filesystem::path& unit);
  // Returns whether such a place is that of a unit that is not in its stack any more. Nothing is known of a stack that
  // is not generated.
  static bool is_left(const std::filesystem::path& kept);

  // Returns whether the unit has no lock file at its kept_place(), while its working directory or the generated unit
  // has one with module blocks. Errors: those of parse_lock(), with the path of the file; IO_ERROR.
  Result<bool> is_deleted() const;
  // Copies the kept lock file of a generated unit to it and to the working directory. Errors: IO_ERROR.
  Result<void> take_kept() const;
  // Copies the module blocks of the unit to the working directory. If the unit's lock file has none and no earlier ones
  // are known, those of its last committed version become the blocks that `lock` restores. Errors: those of
  // parse_lock(), with the path of the file; IO_ERROR; those of lock_root() for `data`, the data directory of the
  // working directory, which is held meanwhile; cancellation.
  Result<void> take_over(const DataDirectory& data, const Context& context) const;
  // Copies the module blocks of the working directory to the unit, if it has a lock file (Terragrunt leaves none if
  // `copy_terraform_lock_file` is false). Errors: as above.
  Result<void> give_back(const DataDirectory& data, const Context& context) const;

  // The texts of both lock files of the working directory; nullopt: there is no such file.
  using Texts = std::array<std::optional<std::string>, 2>;
  // Errors: IO_ERROR.
  Result<Texts> texts() const;
  // Writes these texts again where they differ. Errors: IO_ERROR.
  Result<void> put_back(const Texts& texts, const DataDirectory& data, const Context& context) const;

  // Keeps a copy of `.terraform.lock.hcl` in `data` for restore(), if it has module blocks, which a client drops, or if
  // the unit is generated. The hook before a command calls it last, so there is no copy if that hook refused the
  // command: forget() removes that of an earlier command. Errors: IO_ERROR; PATH_OUTSIDE_ROOT.
  Result<void> remember(const DataDirectory& data) const;
  static Result<void> forget(const DataDirectory& data);
  // Adds the module blocks of the copy that are missing in the lock files of the working directory and of the unit,
  // copies the lock file of a generated unit to its kept_place(), and removes the copy. Does nothing without a copy.
  // Returns what was missing in the working directory. Errors: as for take_over().
  Result<ModuleLocks> restore(const DataDirectory& data, const Context& context) const;

 private:
  Result<void> keep() const;
  Result<void> know_committed_blocks(const std::filesystem::path& data_directory, const Context& context) const;

  std::filesystem::path unit_;
  std::filesystem::path kept_;  // kept_place() of it
  std::filesystem::path working_directory_;
  ClientKind tool_;
};

}  // namespace modlock::terragrunt
