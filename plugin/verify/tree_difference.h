#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/package/tree_hash.h"

namespace modlock {

// How an installed tree differs from the locked one.
struct TreeDifference {
  std::vector<std::string> tampered;  // "main.tf was changed": changed, deleted, or added where OpenTofu would load it
  // What OpenTofu's own copy of a package leaves out (internal/copy of OpenTofu): dotfiles, all below directories of
  // such names, and what links to one of these lead to; other added files.
  std::vector<std::string> harmless;
};

// `link_target` gives what the link of that name in the installed tree names, relative to the package; nullopt where it
// is no link.
TreeDifference compare_trees(const TreeSummary& locked, const TreeSummary& installed,
                             const std::function<std::optional<std::string>(const std::string& name)>& link_target);

}  // namespace modlock
