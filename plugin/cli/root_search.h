#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"

namespace modlock::cli {

// Where root modules are searched, and what is said of them besides the settings files of the tree.
struct RootSearch {
  std::vector<std::filesystem::path> directories = {};  // absolute, lexically normal
  // `roots` and `exclude` of the user. Their globs are relative to the directory of the file; if that is not above the
  // tree, to the top of the tree.
  std::filesystem::path user_file = {};
  std::vector<SourceText> user_roots = {};
  std::vector<SourceText> user_exclude = {};
  // `--root-glob` and `--exclude`, relative to `current`.
  std::filesystem::path current = {};
  std::vector<std::string> root_globs = {};
  std::vector<std::string> exclude = {};
  bool only_locks = false;  // a lock file suffices, without configuration beside it
};

struct FoundRoots {
  struct Excluded {
    std::string root;
    std::string by;  // "exclude in /repo/.tofu-modlock.hcl:3", "--exclude live/old"
  };
  std::vector<std::string> roots = {};   // absolute, sorted
  std::vector<Excluded> excluded = {};   // what would be a root, sorted
  std::vector<std::string> unused = {};  // globs for roots, of the tree or a flag, that match no directory: as `by`
};

// The root modules in and below the directories. Candidates are directories with configuration (list_tree()). One is a
// root if no other directory of the tree calls it as a local module, and it has a lock file, a `backend` or `cloud`
// block, a provider configuration, or a call of a remote module; below directories named `modules`, `examples`, `test`
// and `tests` only a lock file and a `backend` or `cloud` block count. The tree is the whole repository, whatever part
// of it is searched, and such names count from its top. `source` of terragrunt.hcl and of a module in a `run` block of
// a test file is a call too. A source that has no value before plan may be remote, and calls nothing here. A candidate
// that cannot be listed, read or parsed is a root if it is not called: working on it reports why. So is every candidate
// below a settings file that cannot be read, if no other root is there. A glob of `roots` makes a root of every
// candidate that it matches, one of `exclude` of none; `exclude` wins, but that of a settings file of the tree not over
// the roots of the user or of a flag. Errors: CONFIG_PARSE (a glob of a flag); those of list_tree().
Result<FoundRoots> search_roots(const RootSearch& search, const Context& context);

// What keeps a root that search_roots() finds in these directories out of the next search: a line of a settings file,
// at the top of the tree. What that file excludes already is in it.
struct ExcludeLine {
  std::string file;  // absolute
  std::string text;  // exclude = ["live/old"]
};
ExcludeLine exclude_line(const std::filesystem::path& root, const std::vector<std::filesystem::path>& directories);

}  // namespace modlock::cli
