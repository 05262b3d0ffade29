#pragma once

#include <cstdint>
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
  // "f.zip is the content that its Git LFS pointer names": a client runs git's filters. A pointer names content by its
  // SHA-256 and size, so the locked digest of the pointer proves it.
  std::vector<std::string> from_pointers;
};

// What the file system says of the entry of that name in the installed tree.
struct InstalledEntries {
  // What a link names, relative to the package; nullopt where it is no link.
  std::function<std::optional<std::string>(const std::string& name)> link_target;
  // The size of a file; nullopt where it cannot be told.
  std::function<std::optional<std::uint64_t>(const std::string& name)> size;
};

TreeDifference compare_trees(const TreeSummary& locked, const TreeSummary& installed, const InstalledEntries& entries);

}  // namespace modlock
