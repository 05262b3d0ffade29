#pragma once

#include <string>
#include <vector>

#include "backends/package/tree_hash.h"

namespace modlock {

// How an installed tree differs from the locked one.
struct TreeDifference {
  std::vector<std::string> tampered;  // "main.tf was changed": changed, deleted, or added where OpenTofu would load it
  std::vector<std::string> harmless;  // dotfiles that are missing (a client's own copies lack them), other added files
};

TreeDifference compare_trees(const TreeSummary& locked, const TreeSummary& installed);

}  // namespace modlock
