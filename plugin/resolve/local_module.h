#pragma once

#include <filesystem>
#include <vector>

#include "plugin/resolve/module_tree.h"

namespace modlock {

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
