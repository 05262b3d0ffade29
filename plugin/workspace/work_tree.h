#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// A work tree compared with a revision of its repository.
struct RevisionDiff {
  std::string revision;                      // as given
  std::vector<std::filesystem::path> files;  // changed, added or deleted since the revision; absolute
  // `documents` that make a method see these files as they were: the text at the revision, and an empty configuration
  // for an added file.
  std::vector<messages::Document> documents = {};
  // Changed files whose text at the revision is not available: submodules, symbolic links to directories, files that a
  // partial clone lacks.
  std::vector<std::filesystem::path> unknown = {};
};

// Compares the files that git tracks or would add with a revision. Installed modules (`.terraform`) are omitted.
// `repository` is its top directory. Errors: INVALID_PARAMS (not a repository, no such revision); TOOL_MISSING (git);
// IO_ERROR (git fails); those of the context.
Result<RevisionDiff> diff_with_revision(const std::filesystem::path& repository, const std::string& revision,
                                        const Context& context);

// The changes in the configuration of a root module since a revision.
struct ConfigurationChange {
  bool is_changed = false;  // calls, constraints or the lock file are different
  // The locked calls and providers whose source or constraints changed while their lock entry did not: they have to be
  // resolved again. Calls below one of these are omitted.
  std::vector<std::string> targets = {};
};

// Compares two results of `config/inspect`, of the revision and of now. Errors: those of parse_lock() and read_file().
Result<ConfigurationChange> compare_configurations(const std::filesystem::path& root, const RevisionDiff& diff,
                                                   const messages::ConfigInspectResult& before,
                                                   const messages::ConfigInspectResult& now);

// The files of a tree, of any kind. Excludes files that clients and Terragrunt create (`.terraform`,
// `.terragrunt-cache`), and `.git`.
struct TreeFiles {
  std::filesystem::path top;               // absolute
  std::vector<std::string> paths;          // relative to `top`, sorted
  std::vector<std::string> unlisted = {};  // directories that cannot be listed, as above
  std::set<std::string> sparse = {};       // the `paths` that a sparse checkout leaves out
};

// Lists the files in and below a directory. In a git repository, these are the files that git tracks or would add,
// without submodules and ignored files. Otherwise, all files, without following symbolic links to directories. Errors:
// TOOL_MISSING (git); IO_ERROR (git fails); those of the context.
Result<TreeFiles> list_tree_files(const std::filesystem::path& top, const Context& context);

// Lists all files in and below a directory of the tree, also those that git ignores. The paths are relative to `top`.
TreeFiles list_ignored_files(const std::filesystem::path& top, const std::filesystem::path& directory);

}  // namespace modlock
