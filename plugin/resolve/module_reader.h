#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/parsed_module.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// Reads the modules of a tree, each directory once. Calls of the same directory share the result.
class ModuleReader {
 public:
  ModuleReader(const Documents& documents, ClientKind tool, const Context& context)
      : documents_(documents), tool_(tool), context_(context) {}

  // Errors: those of read_module(); PATH_OUTSIDE_ROOT (a file is a symbolic link to a place outside `bounds`).
  Result<std::shared_ptr<const ParsedModule>> read(const std::filesystem::path& directory,
                                                   const std::vector<std::filesystem::path>& bounds);
  // Reads the test files of a root module. Errors: those of read_test_files() and of read().
  Result<std::shared_ptr<const ParsedModule>> read_tests(const ParsedModule& root,
                                                         const std::vector<std::filesystem::path>& bounds) const;
  // Reads several directories in parallel. Leaves errors to read().
  void read_ahead(const std::set<std::filesystem::path>& directories);

 private:
  const Documents& documents_;
  ClientKind tool_;
  const Context& context_;
  std::map<std::filesystem::path, std::shared_ptr<const ParsedModule>> known_;
};

// Sets the four directories of a local module that `parent` calls, on disk and in the manifest. Symbolic links on the
// way are resolved, as OpenTofu records them.
void place_local_module(ModuleNode& node, const ModuleNode& parent, const std::filesystem::path& root);

// Returns the directories that symbolic links in a module may point into: its package, or else `bounds` and its own
// directory.
std::vector<std::filesystem::path> bounds_of(const ModuleNode& node, const std::vector<std::filesystem::path>& bounds);

// Returns a warning if a source names the directory of a local module in another case than it has, which works only
// where the file system folds case. `hint` has its spelling.
std::optional<Error> misspelled_source(const ModuleNode& node, const ModuleNode& parent);

// Checks whether a placed module may be read. If the request follows local sources, a source may also name a directory
// outside the bounds; symbolic links on the way must stay in the directory that encloses it and the root. Errors:
// SOURCE_INVALID if it is outside the package that calls it; PATH_OUTSIDE_ROOT if the root may not read it; IO_ERROR.
Result<void> check_local_bounds(const ModuleNode& node, const ModuleNode& parent, const WalkRequest& request);

}  // namespace modlock
