#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/engine/client_program.h"
#include "plugin/engine/engine.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "protocol/messages/lock_plan.h"

namespace modlock {

// A root directory as a request names it, with everything that holds for it.
struct RootRequest {
  WalkRequest walk;
  DataDirectory data;
  ClientProgram implementation;
  std::filesystem::path repository;  // find_repository_root()
};

// Errors: INVALID_PARAMS (a relative root without workspaceRoots, no such directory), PATH_OUTSIDE_ROOT (outside of
// workspaceRoots), those of load_settings() and find_data_directory().
Result<RootRequest> open_root(const messages::RootParams& params, const Engine& engine);

// What a merge of lock files left open, for who plans the lock.
struct OpenMerge {
  // The entries before the merge: of the file on disk, of one with conflict markers those of our side.
  ModuleLocks modules_before = {};
  ProviderLocks providers_before = {};
  // Entries that sides changed differently (EntryMerge). The merged file has those with the highest versions.
  std::map<std::string, std::vector<std::optional<ModuleLock>>, std::less<>> modules = {};
  std::map<ProviderAddress, std::vector<std::optional<ProviderLock>>> providers = {};
  ModuleLocks dropped = {};  // entries of a side that the merged file does not have
  // By path: the text on disk, nullopt: no file. Only of files that the merge changed.
  std::map<std::string, std::optional<std::string>, std::less<>> on_disk = {};
};

struct LockDocument {
  LockFile file;
  std::string path;  // relative to the root
  // With the sidecar setting: `.terraform.lock.hcl`, which holds the providers. Where module blocks still stand in it,
  // they count as long as there is no sidecar, and move there with the next change.
  std::optional<LockFile> beside = {};
  std::optional<OpenMerge> merge = {};  // the files were merged
  // With the inline setting: the `.terraform.modules.lock.hcl` that an earlier setting left. Its module blocks count as
  // long as the lock file has none; the next change moves them there and deletes it.
  std::optional<LockFile> left_sidecar = {};

  bool counts_inline() const { return beside && !beside->modules.empty() && !file.exists; }
  bool counts_sidecar() const { return left_sidecar && file.modules.empty(); }
  // The file that has the module blocks that count.
  std::string modules_path() const {
    return std::string(counts_inline() ? kLockFileName : counts_sidecar() ? kSidecarFileName : std::string_view(path));
  }
  const LockFile& provider_file() const { return beside ? *beside : file; }
};

// The lock file of a root: the text of the request, else of an overlaying document, else of the disk; where none
// exists, an empty one. `merging` not null: if a merge is under way, or the file has conflict markers, the sides are
// merged (merge_lock()); a text of the request is merged by its markers only. Errors: those of parse_lock() and
// merge_lock(); PATH_OUTSIDE_ROOT; IO_ERROR.
Result<LockDocument> open_lock(const RootRequest& root, const messages::LockParams& params,
                               const Context* merging = nullptr);

// Context::check_source by these settings, which outlive it; empty where they allow every source.
std::function<Result<void>(const Source&)> source_judge(const Settings& settings);

}  // namespace modlock
