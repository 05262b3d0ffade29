#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "plugin/engine/engine.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"
#include "protocol/messages/workspace.h"

namespace modlock {

// Where to search root modules, and rules in addition to the settings files of the tree.
struct RootSearch {
  std::vector<std::filesystem::path> directories = {};  // absolute, lexically normal
  // If the repository is not in one of these directories, the tree is the one that contains the directory to search.
  std::vector<std::filesystem::path> bounds = {};
  // `roots` and `exclude` of the user. Their globs are relative to the directory of the file, or to the top of the tree
  // if the file is not above it.
  std::filesystem::path user_file = {};
  std::vector<SourceText> user_roots = {};
  std::vector<SourceText> user_exclude = {};
  // Globs of this search, relative to `current`, and what gives them.
  std::filesystem::path current = {};
  std::string_view root_globs_name = "--root-glob";
  std::string_view exclude_name = "--exclude";
  std::vector<std::string> root_globs = {};
  std::vector<std::string> exclude = {};
  std::string base = {};    // the revision that a change is for; its module entries qualify a called directory, too
  bool only_locks = false;  // a lock file is sufficient, without configuration in its directory
  bool with_units = false;  // units of Terragrunt are roots, if the lock file of one of them has module entries
};

// Returns whether the directory has a lock file.
bool has_lock(const std::filesystem::path& directory);

// Finds the root modules in and below the directories. Candidates are directories with configuration
// (list_tree_files()), and directories that git ignores in and below a directory that the search names: one of
// `directories`, or the part before the first wildcard of a glob that makes roots. A candidate is a root if it has a
// lock file, a `backend` or `cloud` block, a provider configuration, or a call of a remote module. Below directories
// named `modules`, `examples`, `test` and `tests`, only a lock file and a `backend` or `cloud` block qualify. If
// another directory of the tree calls it as a local module, only module entries of a lock file qualify (on disk, in
// HEAD or at `base`), and, unless only units of Terragrunt call it, a `backend` or `cloud` block; else the result names
// it as called. The tree is always the whole repository (but see `bounds`), and such names are checked from its top.
// Directories that a sparse checkout leaves out are no roots, but their calls are read from git's index. `source` of
// terragrunt.hcl or a file that it includes, and of a module in a `run` block of a test file, is a call, too. A source
// that has no value before plan may be remote, and is not a local call. A candidate that cannot be listed, read or
// parsed is a root if it is not called: processing it reports the reason. So is every candidate below a settings file
// that cannot be read, if there is no other root. A glob of `roots` makes every matching candidate a root, one of
// `exclude` none. `exclude` wins, but an `exclude` in a settings file of the tree does not override `roots` of the user
// or of a flag. Errors: INVALID_PARAMS (a glob of this search); those of list_tree_files() and, for HEAD and `base`, of
// RevisionReader::texts_at().
Result<messages::WorkspaceRootsResult> search_roots(const RootSearch& search, const Context& context);

// Returns a search with the rules of the user of an engine.
RootSearch search_of_user(const Engine& engine);

// Runs `workspace/roots`. The tree and its settings are those of search_roots(), in the workspace roots of the host.
// Errors: those of open_directory() and of search_roots().
Result<messages::WorkspaceRootsResult> find_roots(const Engine& engine, const messages::WorkspaceRootsParams& params,
                                                  Run& run);

// A line for a settings file at the top of the tree that excludes a root from the next search. It includes the existing
// exclusions of that file.
struct ExcludeLine {
  std::string file;  // absolute
  std::string text;  // exclude = ["live/old"]
};
ExcludeLine exclude_line(const std::filesystem::path& root, const std::vector<std::filesystem::path>& directories);

}  // namespace modlock
