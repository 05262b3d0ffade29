#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/package/tree_hash.h"
#include "plugin/resolve/module_tree.h"
#include "protocol/base/result.h"

namespace modlock {

// How an installed tree differs from the locked one.
struct TreeDifference {
  std::vector<std::string> tampered;  // "main.tf was changed": changed, deleted, or added where OpenTofu would load it
  // Entries that are missing because OpenTofu does not copy them (internal/copy of OpenTofu): dotfiles, everything
  // below directories with such names, and links to one of these. Also other added files.
  std::vector<std::string> harmless;
  std::size_t line_endings = 0;  // how many of `tampered` have CRLF where the locked file has LF, as with core.autocrlf
  // "f.zip is the content that its Git LFS pointer names": a client runs git's filters. A pointer contains the SHA-256
  // and size of the content, so its locked digest proves the content.
  std::vector<std::string> from_pointers;
};

// Returns the names of the files that are Git LFS pointers, if an attributes file among the entries names its filter.
// Errors: those of read_file().
Result<std::vector<std::string>> find_lfs_pointers(const std::vector<TreeEntry>& entries);

// Returns a warning LFS_POINTER if a directory of a module has Git LFS pointers in place of their content. Errors:
// SOURCE_UNSUPPORTED (is_strict); those of list_tree().
Result<std::optional<Diagnostic>> check_lfs_pointers(const std::filesystem::path& directory, const ModuleNode& node,
                                                     bool is_strict);

// Returns whether the name of the file or of a directory above it begins with a dot.
bool is_dotfile(std::string_view name);

// Compares the locked files of a package with those installed at `package`, which it reads where digests differ.
TreeDifference compare_trees(const TreeSummary& locked, const TreeSummary& installed,
                             const std::filesystem::path& package);

}  // namespace modlock
