#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/descriptor.h"
#include "protocol/base/result.h"

namespace modlock {

// Metadata that changes with the content of a file. A process that can only write to the file cannot reset `inode` or
// `changed_ns`.
struct FileStamp {
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  // since 1970
  std::int64_t changed_ns = 0;   // of the inode ("ctime")

  bool operator==(const FileStamp&) const = default;
};

// An entry of a package to hash and install: its name relative to the package, `/`-separated.
struct ScannedEntry {
  std::string name;
  enum class Type { file, link_to_file, link_as_text } type = Type::file;
  FileStamp stamp = {};  // of files
  unsigned mode = 0;     // the permission bits of a file
};

// A directory of a package: "" is the package itself. Its stamp was taken before the directory was read, and changes
// whenever an entry is added or removed.
struct ScannedDirectory {
  std::string name;
  FileStamp stamp = {};
};

// The rules for which entries of a tree are hashed, and as what.
enum class TreeRules {
  // A module package, as for list_tree() (tree_hash.h).
  module_package,
  // A provider package, as golang.org/x/mod/sumdb/dirhash hashes a directory: every file, regardless of its name, and
  // each link as the file that it points to, wherever that is.
  provider_package
};

// The result of list_tree() (tree_hash.h), with stamps.
struct TreeScan {
  std::vector<ScannedEntry> entries;          // sorted bytewise by name
  std::vector<ScannedDirectory> directories;  // sorted bytewise by name
  // When the scan began, by the clock of file times. An entry with an earlier stamp gets a different one with its next
  // change.
  std::int64_t started_ns = 0;
};

// Reads the directories of the package at `root`, which may be a link; no file is opened. Errors: those of list_tree();
// by the rules of providers a link to anything but a file is IO_ERROR.
Result<TreeScan> scan_tree(const std::filesystem::path& root, TreeRules rules = TreeRules::module_package);

// The digest of a file's content, and the stamp that the same file had before it was read.
struct HashedFile {
  std::array<std::uint8_t, 32> sha256 = {};
  FileStamp stamp = {};
};

// The open directory of a package; its entries are accessed by name. Thread-safe.
class OpenPackage {
 public:
  // Errors: IO_ERROR.
  static Result<OpenPackage> open(const std::filesystem::path& root);

  // Returns the current stamp of a regular file, or of a directory ("" is the package). nullopt if there is none; links
  // are not followed.
  enum class Kind { file, directory };
  std::optional<FileStamp> stamp(const char* name, Kind kind) const;

  // Hashes a regular file; links are not followed. Errors: IO_ERROR naming the path.
  Result<HashedFile> hash(const std::string& name) const;

 private:
  OpenPackage(std::filesystem::path root, Descriptor directory)
      : root_(std::move(root)), directory_(std::move(directory)) {}

  std::filesystem::path root_;
  Descriptor directory_;
};

enum class LinkTarget { file, directory, nothing };

// Follows the link `name` (relative to `root`, `/`-separated) step by step without ever accessing anything outside
// `root`. Version control entries are treated as absent. If the target of a step does not exist, the rest of the path
// is checked by its text. Errors: ARCHIVE_UNSAFE naming the link (absolute, leaves the package, a cycle, or ends at a
// device, pipe or socket); IO_ERROR.
Result<LinkTarget> follow_link(const std::filesystem::path& root, const std::string& name);

// Replaces `*`, `?` and `[…]` in a subdirectory of a package, as an address names it, by the only directory that
// matches (go-getter's SubdirGlob). Without them it is returned unchanged. Errors: NOT_FOUND (no match), SOURCE_INVALID
// (several matches), in one sentence without the module's name.
Result<std::string> expand_subdir(const std::filesystem::path& package, const std::string& subdir);

}  // namespace modlock
