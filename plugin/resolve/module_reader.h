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

// Reads the modules of a tree, each directory once: calls of one directory share what was read.
class ModuleReader {
 public:
  ModuleReader(const Documents& documents, ClientKind tool, const Context& context)
      : documents_(documents), tool_(tool), context_(context) {}

  // Errors: those of read_module(); PATH_OUTSIDE_ROOT (a file is a link that leads out of `bounds`).
  Result<std::shared_ptr<const ParsedModule>> read(const std::filesystem::path& directory,
                                                   const std::vector<std::filesystem::path>& bounds);
  // The test files of a root module. Errors: those of read_test_files() and of read().
  Result<std::shared_ptr<const ParsedModule>> read_tests(const ParsedModule& root,
                                                         const std::vector<std::filesystem::path>& bounds) const;
  // Reads several in parallel. What cannot be read is left to read().
  void read_ahead(const std::set<std::filesystem::path>& directories);

 private:
  const Documents& documents_;
  ClientKind tool_;
  const Context& context_;
  std::map<std::filesystem::path, std::shared_ptr<const ParsedModule>> known_;
};

// Where a local module lies that `parent` calls, on disk and in the manifest: links on the way are resolved, as
// OpenTofu records it. Sets the four directories of the node.
void place_local_module(ModuleNode& node, const ModuleNode& parent, const std::filesystem::path& root);

// Where links in a module may lead: into its package, else into `bounds` or its own directory.
std::vector<std::filesystem::path> bounds_of(const ModuleNode& node, const std::vector<std::filesystem::path>& bounds);

// Whether a placed module may be read. Where the request follows local sources, one may also name a directory outside
// of the bounds, and links on the way stay in the directory that encloses it and the root. Errors: SOURCE_INVALID if it
// leads out of the package that calls it; PATH_OUTSIDE_ROOT if it leads to where the root may not read; IO_ERROR.
Result<void> check_local_bounds(const ModuleNode& node, const ModuleNode& parent, const WalkRequest& request);

}  // namespace modlock
