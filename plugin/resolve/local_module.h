#pragma once

#include <filesystem>
#include <vector>

#include "plugin/resolve/module_tree.h"

namespace modlock {

// Where a local module lies that `parent` calls, on disk and in the manifest: links on the way are resolved, as
// OpenTofu records it. Sets the four directories of the node.
void place_local_module(ModuleNode& node, const ModuleNode& parent, const std::filesystem::path& root);

// What links in a module may lead to: its package, else `bounds`.
std::vector<std::filesystem::path> bounds_of(const ModuleNode& node, const std::vector<std::filesystem::path>& bounds);

// Errors: SOURCE_INVALID where it leads out of the package that calls it, PATH_OUTSIDE_ROOT where it leads out of the
// bounds of the root.
Result<void> check_local_bounds(const ModuleNode& node, const std::vector<std::filesystem::path>& bounds);

}  // namespace modlock
