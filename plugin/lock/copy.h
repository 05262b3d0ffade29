#pragma once

#include <filesystem>
#include <optional>

#include "backends/context.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// OpenTofu drops module blocks whenever it rewrites provider blocks. These are the two places they come back from.

// Writes the module blocks to `<data_dir>/tofu-modlock/lock.hcl`; a file that says so already is left untouched,
// and no modules make no file.
// Errors: IO_ERROR.
Result<void> save_lock_copy(const std::filesystem::path& data_dir, const ModuleLocks& modules);

// What save_lock_copy() wrote. nullopt: there is none, or what is there is no lock. Errors: IO_ERROR, for who took a
// file that cannot be read for none would choose versions anew.
Result<std::optional<ModuleLocks>> load_lock_copy(const std::filesystem::path& data_dir);

// The module blocks of the newest committed version of the root's lock file that has any, of the last 20 changes. Reads
// the local repository only. nullopt: no git, no repository, no such version; versions that cannot be read are passed
// over. Errors: IO_ERROR where git cannot be started; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<ModuleLocks>> committed_module_locks(const std::filesystem::path& root, std::string_view lock_path,
                                                          const Context& context);

// Whether versions of the lock file may be missing because the clone is shallow: it has committed ones, and git does
// not have all of their history. Reads the local repository only. Errors: as above.
Result<bool> is_history_cut_off(const std::filesystem::path& root, std::string_view lock_path, const Context& context);

}  // namespace modlock
