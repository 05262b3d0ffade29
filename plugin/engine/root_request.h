#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/engine/client_program.h"
#include "plugin/engine/engine.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "protocol/messages/lock_plan.h"

namespace modlock {

// A root directory as named in a request, and its context.
struct RootRequest {
  WalkRequest walk;
  DataDirectory data;
  ClientProgram implementation;
  std::filesystem::path repository;  // find_repository_root()
  // Whether git may track the files of the root. It does not if the settings are in another directory: the root is then
  // Terragrunt's copy of a unit, with the lock file of the unit.
  bool is_versioned = true;
};

// Returns the path that a host sent for `name`, as a path or a file:// URI. Errors: INVALID_PARAMS (a URI of another
// machine, or not only of a path; control characters).
Result<std::filesystem::path> decode_path(std::string_view name, const std::string& sent);

// A directory that a host names for a search, and the directories that reads stay in; none without workspaceRoots. All
// are absolute, without links.
struct SearchedDirectory {
  std::filesystem::path path;
  std::vector<std::filesystem::path> bounds = {};
};
// Errors: those of decode_path(); INVALID_PARAMS (a relative directory without workspaceRoots, no such directory);
// PATH_OUTSIDE_ROOT (outside workspaceRoots).
Result<SearchedDirectory> open_directory(const std::string& sent, const Engine& engine);

// Errors: those of decode_path(); INVALID_PARAMS (a relative root without workspaceRoots, no such directory),
// PATH_OUTSIDE_ROOT (outside workspaceRoots), those of load_settings() and find_data_directory().
Result<RootRequest> open_root(const messages::RootParams& params, const Engine& engine, const Run& run);

// Returns the client of a root; if the root cannot be opened, without its settings.
ClientProgram client_of(const messages::RootParams& params, const Engine& engine);

// The open conflicts of a merge of lock files, for the planner of the lock.
struct OpenMerge {
  // The entries before the merge: those of the file on disk, or those of our side if it has conflict markers.
  ModuleLocks modules_before = {};
  ProviderLocks providers_before = {};
  // Entries that the sides changed differently (EntryMerge). The merged file has those with the highest versions.
  std::map<std::string, std::vector<std::optional<ModuleLock>>, std::less<>> modules = {};
  std::map<ProviderAddress, std::vector<std::optional<ProviderLock>>> providers = {};
  ModuleLocks dropped = {};  // entries of a side that the merged file does not have
  // By path: the text on disk, nullopt: no file. Contains only files that the merge changed.
  std::map<std::string, std::optional<std::string>, std::less<>> on_disk = {};
};

struct LockDocument {
  LockFile file;
  std::string path;                       // relative to the root
  std::optional<bool> uses_sidecar = {};  // Settings::uses_sidecar
  // If the path is that of the sidecar: `.terraform.lock.hcl`, which contains the providers. With the setting, its
  // module blocks apply until there is a sidecar, and move there with the next change.
  std::optional<LockFile> beside = {};
  std::optional<OpenMerge> merge = {};  // the files were merged
  // With the inline setting: the `.terraform.modules.lock.hcl` of an earlier setting. Its module blocks apply until the
  // lock file has some; the next change moves them there and deletes it.
  std::optional<LockFile> left_sidecar = {};

  bool counts_inline() const { return beside && !uses_sidecar_blocks(*beside, file, uses_sidecar); }
  bool counts_sidecar() const { return left_sidecar && uses_sidecar_blocks(file, *left_sidecar, uses_sidecar); }
  // Returns the file with the module blocks that apply.
  std::string modules_path() const {
    return std::string(counts_inline() ? kLockFileName : counts_sidecar() ? kSidecarFileName : std::string_view(path));
  }
  std::string providers_path() const { return beside ? std::string(kLockFileName) : path; }
  const LockFile& provider_file() const { return beside ? *beside : file; }
  // Returns the path for messages about modules, or only about providers.
  std::string shown_path(bool is_of_providers = false) const {
    return ((is_of_providers ? provider_file() : file).text.empty() ? "the missing " : "") +
           (is_of_providers ? providers_path() : path);
  }
};

// The checkout of a root at EngineOptions::base, without files of the user.
struct BaseState {
  Settings settings;                     // nothing is set if they are not valid there
  std::optional<std::string> lock_text;  // of `.terraform.lock.hcl`; nullopt: there is none
};
// Reads it, and nothing but the local repository; nullopt: no revision is given. Errors: those of
// RevisionReader::texts_at().
Result<std::optional<BaseState>> read_base(const RootRequest& root, const EngineOptions& options,
                                           const Context& context);

// Sets which globs of `unlocked_sources` apply: those of the options and of the user's settings, and those of the
// checkout. In CI a change cannot allow its own calls, so the base must have the latter, too. Errors: those of
// read_base().
Result<void> take_unlocked_sources(RootRequest& root, const Engine& engine, const Context& context);

// Opens the lock file of a root: the text of the request, or else of an overlaying document, or else the file on disk;
// an empty one if none exists. `merging` not null: if a merge is in progress, or the file has conflict markers, the
// sides are merged (merge_lock()); a text of the request is merged only by its markers. Errors: those of parse_lock()
// and merge_lock(); PATH_OUTSIDE_ROOT; IO_ERROR.
Result<LockDocument> open_lock(const RootRequest& root, const messages::LockParams& params,
                               const Context* merging = nullptr);

// Returns Context::check_source for these settings, which outlive it; empty if they allow every source.
std::function<Result<void>(const Source&, const ServerHop&)> source_judge(const Settings& settings);

}  // namespace modlock
