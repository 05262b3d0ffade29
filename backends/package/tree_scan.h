#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// What the system changes together with the content of a file. Who can only write to the file can set none of `inode`
// and `changed_ns` back.
struct FileStamp {
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  // since 1970
  std::int64_t changed_ns = 0;   // of the inode ("ctime")

  bool operator==(const FileStamp&) const = default;
};

// An entry of a package that counts: its name relative to the package, `/`-separated.
struct ScannedEntry {
  std::string name;
  enum class Type { file, link_to_file, link_as_text } type = Type::file;
  FileStamp stamp = {};  // of files
  unsigned mode = 0;     // the permission bits of a file
};

// A directory of a package: "" is the package itself. Its stamp is older than what was read of it; another entry in it,
// and one less, give it another one.
struct ScannedDirectory {
  std::string name;
  FileStamp stamp = {};
};

// What of a tree counts, and as what.
enum class TreeRules {
  // A package of a module, as list_tree() (tree_hash.h) says.
  module_package,
  // A package of a provider, as golang.org/x/mod/sumdb/dirhash hashes a directory: every file, whatever its name, and
  // each link as the file that it leads to, wherever that lies.
  provider_package
};

// What list_tree() (tree_hash.h) lists, with stamps.
struct TreeScan {
  std::vector<ScannedEntry> entries;          // sorted bytewise by name
  std::vector<ScannedDirectory> directories;  // so, too
  // When the scan began, by the clock that stamps files: what has a stamp before it gets another one with its next
  // change.
  std::int64_t started_ns = 0;
};

// Reads the directories of the package at `root`, which may be a link; no file is opened. Errors: those of list_tree();
// by the rules of providers a link to anything but a file is IO_ERROR.
Result<TreeScan> scan_tree(const std::filesystem::path& root, TreeRules rules = TreeRules::module_package);

// The digest of a file's content and the stamp that the very file had before it was read.
struct HashedFile {
  std::array<std::uint8_t, 32> sha256 = {};
  FileStamp stamp = {};
};

// The directory of a package, held open: asks for what lies in it by name. Thread-safe.
class OpenPackage {
 public:
  // Errors: IO_ERROR.
  static Result<OpenPackage> open(const std::filesystem::path& root);
  OpenPackage(OpenPackage&& other) noexcept;
  OpenPackage& operator=(OpenPackage&&) = delete;
  ~OpenPackage();

  // The stamp that a regular file, or a directory ("" is the package), has now. nullopt where there is none; a link is
  // not followed.
  std::optional<FileStamp> stamp_of_file(const char* name) const;
  std::optional<FileStamp> stamp_of_directory(const char* name) const;

  // A regular file; a link is not followed. Errors: IO_ERROR naming the path.
  Result<HashedFile> hash(const std::string& name) const;

 private:
  OpenPackage(std::filesystem::path root, int directory) : root_(std::move(root)), directory_(directory) {}

  std::filesystem::path root_;
  int directory_;  // -1: moved from
};

// What a link inside a package leads to.
enum class LinkTarget { file, directory, nothing };

// Follows the link `name` (relative to `root`, `/`-separated) step by step without ever looking outside `root`. Version
// control entries count as not there. Where a step leads to nothing, the rest of the way is judged by its text.
// Errors: ARCHIVE_UNSAFE naming the link (absolute, leaves the package, a cycle, or ends at a device, pipe or socket);
// IO_ERROR.
Result<LinkTarget> follow_link(const std::filesystem::path& root, const std::string& name);

}  // namespace modlock
