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

// The digests of a package's entries, sorted bytewise by name: what its "h1:" is made of, so that a summary proves
// itself against a known h1.
struct TreeSummary {
  std::vector<FileDigest> files;

  // "<sha256>  <name>" and LF for each file: the text that golang.org/x/mod/sumdb/dirhash Hash1 hashes.
  std::string text() const;
  // "h1:" and the base64 of the SHA-256 of text().
  std::string h1() const;
};

// Reads text(). nullopt where it is nothing like it.
std::optional<TreeSummary> parse_tree_summary(std::string_view text);

// A file of a package that counts: its name relative to the package, `/`-separated.
struct TreeEntry {
  std::string name;
  std::filesystem::path path;
  using Type = ScannedEntry::Type;
  Type type = Type::file;
  unsigned mode = 0;  // ScannedEntry::mode
};

// The entries of a package that are hashed and installed, sorted bytewise by name: everything but directories and
// version control entries (is_version_control_name). A link to a file counts as its content, a link to a directory and
// a dangling link as its target text; to a link, a version control entry is not there. `root` itself may be a link.
// Errors: ARCHIVE_UNSAFE (a link that leaves the package at any step or is absolute, a link cycle, a device, pipe or
// socket, a newline in a name) naming the entry; IO_ERROR.
Result<std::vector<TreeEntry>> list_tree(const std::filesystem::path& root,
                                         TreeRules rules = TreeRules::module_package);

// Returns the SHA-256 (64 hexadecimal digits) of what h1 does not cover: of each entry in order its name, its kind
// (file or link) and whether the owner may execute the file.
std::string hash_modes(const std::vector<TreeEntry>& entries);

// Whether each file has the mode 0644 or 0755, as copy_tree() sets it.
bool has_copied_modes(const std::vector<TreeEntry>& entries);

// The SHA-256 of what an entry counts as. Errors: IO_ERROR.
Result<std::array<std::uint8_t, 32>> digest_of_entry(const TreeEntry& entry);

// The digests of these entries; those of files whose path is in `known` are taken from there. Errors: IO_ERROR;
// REQUEST_CANCELLED and DEADLINE_EXCEEDED.
Result<TreeSummary> summarise_entries(const std::vector<TreeEntry>& entries, const FileDigests& known,
                                      const Context& context);

// summarise_entries() of list_tree(). Errors: those of both.
Result<TreeSummary> summarise_tree(const std::filesystem::path& root, const Context& context);

// OpenTofu's "h1:" over the package at `root`: golang.org/x/mod/sumdb/dirhash Hash1 of list_tree().
// Errors: those of list_tree(); REQUEST_CANCELLED and DEADLINE_EXCEEDED.
Result<std::string> hash_tree(const std::filesystem::path& root, const Context& context);

}  // namespace modlock
