#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// OpenTofu drops module blocks whenever it rewrites provider blocks. These are the two places they come back from.

// A backup of the module blocks of a lock file.
struct LockBackup {
  ModuleLocks modules;
  // What committed_lock_id() was when these blocks were saved; empty: nothing was committed.
  std::string committed_id = {};
};

// The id that git has for the lock file in the last commit; empty: no git, no repository, no such file. Reads the local
// repository only. Errors: IO_ERROR if git cannot be started; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::string> committed_lock_id(const std::filesystem::path& root, std::string_view lock_path,
                                      const Context& context);

// Writes the module blocks of the lock file of `root` to `<data_dir>/tofu-modlock/lock.hcl`. A file that has the same
// blocks is left untouched, and no modules make no file. Errors: IO_ERROR; those of committed_lock_id().
Result<void> save_lock_backup(const std::filesystem::path& data_dir, const ModuleLocks& modules,
                              const std::filesystem::path& root, const Context& context);

// Returns what save_lock_backup() wrote. nullopt: there is no copy, or the file is not a lock file. Errors: IO_ERROR: a
// file that cannot be read is not the same as none.
Result<std::optional<LockBackup>> load_lock_backup(const std::filesystem::path& data_dir);

// Returns the module blocks of the newest committed version of the root's lock file that has any, of the last 20
// changes. If a version without any came between these (a client or a merge dropped them), entries that only older
// versions have are added. Reads the local repository only. nullopt: no git, no repository, no such version; versions
// that cannot be read are skipped. Errors: those of committed_lock_id().
Result<std::optional<ModuleLocks>> committed_module_locks(const std::filesystem::path& root, std::string_view lock_path,
                                                          const Context& context);

// Whether versions of the lock file may be missing because the clone is shallow: it has committed ones, and git does
// not have all of their history. Reads the local repository only. Errors: as above.
Result<bool> is_history_cut_off(const std::filesystem::path& root, std::string_view lock_path, const Context& context);

}  // namespace modlock
