#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/file_lock.h"
#include "backends/base/pinned_directory.h"
#include "protocol/base/result.h"

namespace modlock {

// The data directory of a root: `.terraform`, or what `dataDir` (TF_DATA_DIR) names.
struct DataDirectory {
  std::filesystem::path path;        // absolute
  std::string name;                  // as the manifest writes it: relative to the root, or absolute as it was given
  std::filesystem::path bound = {};  // the root, which it must not leave; empty: its user named it

  std::filesystem::path modules() const { return path / "modules"; }
  std::filesystem::path manifest() const { return modules() / "modules.json"; }
  // What is ours in it: the copy of the module blocks, unfinished work.
  std::filesystem::path ours() const { return path / "tofu-modlock"; }
  // The lists of the files of installed packages.
  std::filesystem::path file_lists() const { return ours() / "files"; }
  // Where the package of a call is installed. nullopt for a key that would name any other place ("..", "a/b").
  std::optional<std::filesystem::path> place_of(std::string_view key) const;
  // Opens `directory`, which is `path` or one of the directories above, for writing below it, and makes what is
  // missing. The rules of find_data_directory() apply to the links that are there now; one that appears in the meantime
  // is not followed. Errors: PATH_OUTSIDE_ROOT; IO_ERROR.
  Result<PinnedDirectory> pin(const std::filesystem::path& directory) const;
};

// Errors: PATH_OUTSIDE_ROOT where the directory is a symbolic link that leaves the root and was not named by `given`,
// where it is the root or a directory above it, or where its `modules`, `modules/modules.json`, `tofu-modlock` or
// `tofu-modlock/files` is a link that leaves the data directory, be it to nothing.
Result<DataDirectory> find_data_directory(const std::filesystem::path& root, const std::optional<std::string>& given);

// Holds a root against other processes that write its lock file or its installation, as long as the object lives; what
// killed ones left in `ours` is removed. Nothing is held where `ours` cannot be written. After a second the log hears
// which process is waited for. Errors: TIMEOUT after five minutes; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<FileLock>> lock_root(const DataDirectory& data, const Context& context,
                                          LockPatience patience = {});

}  // namespace modlock
