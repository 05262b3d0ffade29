#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/store/store.h"
#include "plugin/engine/open_root.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/plan.h"
#include "plugin/terragrunt/unit_source.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// What the functions below have to know about a unit. Their root is the working directory of the client, which contains
// the lock file.
struct UnitSourceOptions {
  std::filesystem::path downloaded;  // the directory of the downloaded package
  ModuleNode source;                 // as a module call
  // Returns whether a file below `downloaded` is the user's own: copied over the package or generated. Such files count
  // as unchanged, and may have been added.
  std::function<bool(const std::filesystem::path& file)> is_own;
  // Returns whether Terragrunt wrote such a file unless the package has it. Only the source shows that.
  std::function<bool(const std::filesystem::path& file)> may_be_generated = [](const auto&) { return false; };
  // Whether the source may be queried for the origin of added files.
  bool may_query = false;
  bool accepts_moved = false;  // of PlanRequest
};

// The source of a unit as a module call, or why it can be neither locked nor checked; neither: it is local, or there is
// none.
struct UnitCall {
  std::optional<ModuleNode> node = {};
  std::optional<Error> unchecked = {};
};
// Errors: CONSTRAINT_SYNTAX.
Result<UnitCall> call_of_unit(OpenRoot& open, const std::optional<UnitSource>& source);

// Returns `held` with the lock entry for the source of a unit, or `not_locked` with the reason in `detail`.
Verdict find_entry(const ModuleNode& source, const ModuleLocks& locked);

struct LockedUnitSource {
  ModuleLock entry;
  std::string_view change = {};        // of the lock file: "restored", "locked again", "locked"; empty: none
  std::optional<HeldMove> moved = {};  // the tag was moved; its entry stays
};

struct VerifiedUnitSource {
  Verdict verdict;
  std::optional<Error> unanswered = {};  // added files that the source may have had when it was downloaded
};

// Returns the files in and below a directory that a client may load as configuration, tests or values of variables,
// and the links to directories, which may contain such files. Paths are relative to it and sorted. The directories in
// which git, the client and Terragrunt keep their data are left out. `others` not null: receives all other files, also
// of those directories, except `data_directory`, and those of git and Terragrunt. Errors: IO_ERROR.
Result<std::vector<std::string>> loadable_files(const std::filesystem::path& directory,
                                                const std::filesystem::path& data_directory = {},
                                                std::vector<std::string>* others = nullptr);

// Plans the entry of the source of a unit under a mode of LockPlanParams as plan() does for a module call, and
// fetches its package: an entry that matches the source stays, and no request is sent if the store has its package.
// Under `missing` an entry from the backup is used if the lock file has no module blocks. Under `upgrade` the entry of
// a tag that was moved stays, and `moved` names both. Errors: those of call_of_unit(), load_lock_backup() and
// plan_single_call(); NOT_FOUND or SOURCE_INVALID for the subdirectory of the package; IO_ERROR.
Result<LockedUnitSource> lock_unit_source(OpenRoot& open, const UnitSourceOptions& options, PlanMode mode);
// Writes the entry to the lock file. Errors: those of lock_root(), of parse_lock(); IO_ERROR.
Result<void> write_unit_source(OpenRoot& open, const ModuleLock& entry);
// Compares the downloaded files with those of the lock entry, or of `planned`, which is not written yet: the package
// may have a lock file of its own. A file with LF in place of CRLF is that of Terragrunt's own store. An added file
// that no client loads, such as a template, is the user's own unless the source had it when Terragrunt downloaded it.
// If there is one, and it is not recorded (record_download()), the source is queried once, if `may_query` is set. Sends
// no other request, except to the remote store. The verdict is `held`, `not_locked` with the reason in `detail`,
// `missing` if the cache does not show that the source had the locked package, or `tampered` with all files that
// differ, all that a client would load and that were added, and all that came with another package of the source.
// Errors: those of call_of_unit(); IO_ERROR; cancellation.
Result<VerifiedUnitSource> verify_unit_source(OpenRoot& open, const UnitSourceOptions& options,
                                              const std::optional<ModuleLock>& planned = {});

// Copies the part of the locked package that is downloaded for a unit to `to`, a new directory: for a registry, the
// directory that it names. A package that the store lacks comes from the remote store or from its source. Returns
// false if no lock entry matches the source. Errors: those of plan_single_call() and copy_tree();
// NOT_FOUND or SOURCE_INVALID for the directory.
Result<bool> copy_unit_source(OpenRoot& open, const ModuleNode& source, const std::filesystem::path& to);

// Records the names of the files that this download may have more than the locked package, because its source had
// another one then. The record is in the cache of the user, which no checkout contains, and counts as long as the
// version file, which Terragrunt writes with each download, has the same time. A failure is no error: then they are not
// known.
void record_download(const Store& store, const std::filesystem::path& version_file,
                     const std::vector<std::string>& added);

}  // namespace modlock::terragrunt
