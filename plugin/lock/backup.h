#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "backends/base/pinned_directory.h"
#include "plugin/lock/local_git.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// OpenTofu drops module blocks whenever it rewrites provider blocks. tofu-modlock restores them from two places: a
// backup in the data directory, and committed versions of the lock file.

struct LockBackup {
  ModuleLocks modules;
  // The result of committed_lock_id() when these blocks were saved; empty: nothing was committed.
  std::string committed_id = {};
};

// Returns git's id for the lock file in the last commit; empty: no git, no repository, no such file. Reads only the
// local repository. Errors: IO_ERROR if git cannot be started; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::string> committed_lock_id(const std::filesystem::path& root, std::string_view lock_path,
                                      const Context& context);

// Returns whether the last commit has the lock file with this text. If that is not known, it has not.
bool is_committed_lock(const std::filesystem::path& root, std::string_view lock_path, std::string_view text,
                       const Context& context);

// Returns the module blocks that the lock file has in a commit; nullopt: none, or they cannot be read. Errors: those of
// committed_lock_id().
Result<std::optional<ModuleLocks>> module_locks_at(const std::filesystem::path& root, std::string_view commit,
                                                   std::string_view lock_path, const Context& context);

// Writes the module blocks of the lock file of `root` to `<data_dir>/tofu-modlock/lock.hcl`. Leaves a file with the
// same blocks unchanged, and creates no file if there are no modules. `open` opens the directory `tofu-modlock` for
// writing; without it no link below `data_dir` is followed. Errors: IO_ERROR; those of committed_lock_id() and `open`.
Result<void> save_lock_backup(const std::filesystem::path& data_dir, const ModuleLocks& modules,
                              const std::filesystem::path& root, const Context& context,
                              const std::function<Result<PinnedDirectory>()>& open = {});

// Returns the backup that save_lock_backup() wrote. nullopt: there is no backup, or the file is not a lock file.
// Errors: IO_ERROR if the file exists but cannot be read.
Result<std::optional<LockBackup>> load_lock_backup(const std::filesystem::path& data_dir);

// Returns the module blocks of the newest committed version of the root's lock file that has any, of the last 20
// changes. If a version without any came between these (a client or a merge dropped them), entries that only older
// versions have are added. If none of them has any, the blocks before the last change that added or removed one. Reads
// only the local repository. nullopt: no git, no repository, no such version; versions that cannot be read are skipped.
// Errors: those of committed_lock_id().
Result<std::optional<ModuleLocks>> committed_module_locks(const std::filesystem::path& root, std::string_view lock_path,
                                                          const Context& context);

// Returns why versions of the lock file may be missing; nullopt: none is. The clone is shallow and has committed ones,
// or git does not read the repository or a version. Reads only the local repository. Errors: those of
// committed_lock_id().
Result<std::optional<RepositoryFault>> find_history_gap(const std::filesystem::path& repository,
                                                        const std::filesystem::path& root, std::string_view lock_path,
                                                        const Context& context);

}  // namespace modlock
