#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

struct git_repository;

namespace modlock::git {

// Why a tree entry may not be written, as the end of a sentence ("which no checkout may write"); empty where it may.
// Refused are "." and "..", names that are empty, hold a "/" or are longer than file systems take, and what a file
// system of some platform takes for ".git", or for ".gitmodules" where that is a link. `path` ends with `name`.
std::string_view entry_fault(std::string_view path, std::string_view name, bool is_link);

// What a reference of a repository finally names, tags followed.
struct PeeledObject {
  std::string id;
  std::string kind;  // "commit", "tree", "blob"
};

// An entry that no honest tree has, or that cannot be written.
struct HostileEntry {
  std::string path;                  // as it is: any bytes
  std::string_view why;              // "which no checkout may write"
  Code code = Code::archive_unsafe;  // LIMIT_EXCEEDED: one more than a package may have
};

// A commit of another repository that a tree names.
struct Submodule {
  std::string path;  // in the tree
  std::string commit;
};

// A file or a symbolic link of a tree.
struct TreeFile {
  enum class Kind { plain, executable, link };
  std::string path;
  std::string id;
  Kind kind = Kind::plain;
  std::uint64_t size = 0;  // of the blob
};

// What about a commit's tree matters beyond its bytes. Paths are `/`-separated and in tree order.
struct TreeFacts {
  std::optional<HostileEntry> hostile;  // the first one; what follows it in the tree was not read
  std::vector<Submodule> submodules;
  std::vector<std::string> own_overrides;  // "modlock_override.tf", at any depth
  std::vector<std::string> lfs_pointers;   // only where an attributes file of the tree names the lfs filter
  std::vector<TreeFile> files;
  std::uint64_t bytes = 0;           // of all files together
  std::uint64_t distinct_bytes = 0;  // the same with each blob counted once, however often the tree names it
  std::uint64_t entries = 0;         // with directories and submodules
  // The files of a checkout are the blobs of the tree: no attribute asks for other bytes, and all entries are of the
  // usual kinds.
  bool is_literal = true;
};

// Reads a bare repository with libgit2. No configuration outside the repository counts. Not thread-safe.
class ObjectReader {
 public:
  // Errors: IO_ERROR (no repository there, or a broken one).
  static Result<ObjectReader> open(const std::filesystem::path& repository);

  // nullopt where the reference is not there.
  std::optional<PeeledObject> peel(const std::string& reference) const;
  // The same for an object's id.
  std::optional<PeeledObject> peel_object(const std::string& id) const;
  bool has_object(const std::string& id) const;
  // Whether the object is there with what it needs, the parents of a commit aside.
  bool is_whole(const std::string& id) const;
  bool has_parents(const std::string& commit) const;
  // Errors: IO_ERROR.
  Result<void> set_reference(const std::string& reference, const std::string& id) const;
  void delete_references(const std::string& prefix) const;
  // When the commit was made. Errors: IO_ERROR (no such commit).
  Result<std::chrono::sys_seconds> commit_time(const std::string& commit) const;
  // Memory is bounded, whatever the tree says. Errors: IO_ERROR (an object is missing).
  Result<TreeFacts> tree_facts(const std::string& commit) const;
  // Hands the content of a blob to `use`. Errors: IO_ERROR (it is not there); those of `use`.
  Result<void> with_blob(const std::string& id, const std::function<Result<void>(std::string_view)>& use) const;

 private:
  struct Release {
    void operator()(git_repository* repository) const;
  };
  explicit ObjectReader(git_repository* repository) : repository_(repository) {}
  std::unique_ptr<git_repository, Release> repository_;
};

}  // namespace modlock::git
