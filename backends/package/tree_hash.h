#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/files.h"
#include "backends/package/tree_scan.h"
#include "protocol/base/result.h"

namespace modlock {

struct FileDigest {
  std::string name;    // relative to the package, `/`-separated
  std::string sha256;  // 64 lower-case hexadecimal digits
};

// The digests of a package's entries, sorted bytewise by name. They determine its "h1:", so a summary can be verified
// against a known h1.
struct TreeSummary {
  std::vector<FileDigest> files;

  // Returns "<sha256>  <name>" and LF for each file: the text that golang.org/x/mod/sumdb/dirhash Hash1 hashes.
  std::string text() const;
  // Returns "h1:" and the base64 of the SHA-256 of text().
  std::string h1() const;
  // Returns the file of this name; null if there is none.
  const FileDigest* find(std::string_view name) const;
};

// Reads text(). nullopt if the format is invalid.
std::optional<TreeSummary> parse_tree_summary(std::string_view text);

// An entry of a package to hash and install, and where it is.
struct TreeEntry : ScannedEntry {
  std::filesystem::path path;
};

// Returns the entries of a package that are hashed and installed, sorted bytewise by name: everything except
// directories and entries of git (is_git_entry). A link to a file counts as its content; a link to
// a directory and a dangling link count as their target text. For a link, entries of git do not exist. `root`
// itself may be a link. Errors: ARCHIVE_UNSAFE (a link that leaves the package at any step or is absolute, a link
// cycle, a device, pipe or socket, a newline in a name) naming the entry; IO_ERROR.
Result<std::vector<TreeEntry>> list_tree(const std::filesystem::path& root,
                                         TreeRules rules = TreeRules::module_package);

// Checks that no entry is named modlock_override.tf: clients read such a file, and tofu-modlock does not. Errors:
// ARCHIVE_UNSAFE.
Result<void> refuse_override(const std::vector<TreeEntry>& entries);

// Returns the SHA-256 (64 hexadecimal digits) of the properties that h1 does not cover: the name of each entry in
// order, its kind (file or link), and whether the owner may execute the file.
std::string hash_modes(const std::vector<TreeEntry>& entries);

// Returns whether each file has the mode 0644 or 0755, as copy_tree() sets it.
bool has_copied_modes(const std::vector<TreeEntry>& entries);

// Returns the SHA-256 of the content that an entry counts as. Errors: IO_ERROR.
Result<std::array<std::uint8_t, 32>> digest_of_entry(const TreeEntry& entry);

// Returns the digests of these entries; those of files whose path is in `known` are not computed again. Errors:
// IO_ERROR; REQUEST_CANCELLED and DEADLINE_EXCEEDED.
Result<TreeSummary> summarise_entries(const std::vector<TreeEntry>& entries, const FileDigests& known,
                                      const Context& context);

// summarise_entries() of list_tree(). Errors: those of both.
Result<TreeSummary> summarise_tree(const std::filesystem::path& root, const Context& context);

// Returns OpenTofu's "h1:" over the package at `root`: golang.org/x/mod/sumdb/dirhash Hash1 of list_tree(). Errors:
// those of list_tree(); REQUEST_CANCELLED and DEADLINE_EXCEEDED.
Result<std::string> hash_tree(const std::filesystem::path& root, const Context& context);

// Returns the h1 of tofu-modlock 0.1, which left out entries of version control systems other than git. Errors: those
// of hash_tree().
Result<std::string> former_hash_of_tree(const std::filesystem::path& root, const Context& context);

}  // namespace modlock
