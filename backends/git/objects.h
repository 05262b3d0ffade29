#pragma once

#include <chrono>
#include <cstddef>
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

// Returns why a tree entry may not be written, as the end of a sentence ("which no checkout may write"); empty if it
// may. Rejected are ".", "..", empty names, names with "/", names and paths that are too long for file systems, and
// names that some platform's file system treats as ".git", or as ".gitmodules" if it is a symbolic link. `path` ends
// with `name`.
std::string_view entry_fault(std::string_view path, std::string_view name, bool is_link);

// The object that a reference of a repository finally points to, after any tags.
struct PeeledObject {
  std::string id;
  std::string kind;  // "commit", "tree", "blob"
};

// An entry that no honest tree has, or that cannot be written.
struct HostileEntry {
  std::string path;                  // unmodified: any bytes
  std::string_view why;              // "which no checkout may write"
  Code code = Code::archive_unsafe;  // LIMIT_EXCEEDED: more entries than a package may have
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

// Facts about a commit's tree beyond its bytes. Paths are `/`-separated and in tree order.
struct TreeFacts {
  std::optional<HostileEntry> hostile;  // the first one; the rest of the tree was not read
  std::vector<Submodule> submodules;
  std::vector<std::string> own_overrides;  // "modlock_override.tf", at any depth
  std::vector<std::string> lfs_pointers;   // only if an attributes file of the tree names the lfs filter
  std::vector<TreeFile> files;
  std::uint64_t bytes = 0;           // of all files together
  std::uint64_t distinct_bytes = 0;  // the same with each blob counted once
  std::uint64_t entries = 0;         // including directories and submodules
  // The files of a checkout are the blobs of the tree: no attribute changes bytes, and all entries are of the usual
  // kinds.
  bool is_literal = true;
};

// The limits of ObjectReader::of_objects(), so that memory is bounded.
inline constexpr std::size_t kObjectBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kObjectCount = 20'000;

// Reads a bare repository with libgit2. No configuration outside the repository applies. Not thread-safe.
class ObjectReader {
 public:
  // Errors: IO_ERROR (no repository, or a broken one).
  static Result<ObjectReader> open(const std::filesystem::path& repository);
  // Reads the objects of commit_and_trees(), without a repository on disk. Their ids are computed from their bytes.
  // Errors: SOURCE_INVALID (another format, or more than the limits).
  static Result<ObjectReader> of_objects(std::string_view objects);

  // Returns nullopt if the reference does not exist.
  std::optional<PeeledObject> peel(const std::string& reference) const;
  // The same for an object's id.
  std::optional<PeeledObject> peel_object(const std::string& id) const;
  bool has_object(const std::string& id) const;
  // Whether the object and everything that it needs are present, except the parents of a commit.
  bool is_whole(const std::string& id) const;
  bool has_parents(const std::string& commit) const;
  // Errors: IO_ERROR.
  Result<void> set_reference(const std::string& reference, const std::string& id) const;
  void delete_references(const std::string& prefix) const;
  // When the commit was made. Errors: IO_ERROR (no such commit).
  Result<std::chrono::sys_seconds> commit_time(const std::string& commit) const;
  // Memory is bounded for any tree. Errors: IO_ERROR (an object is missing).
  Result<TreeFacts> tree_facts(const std::string& commit) const;
  // The entries of tree_facts() without what only blobs contain: sizes, attributes and pointers. Errors: as there.
  Result<TreeFacts> tree_entries(const std::string& commit) const;
  // Returns a commit and all trees below it, each once, as git hashes them: "TYPE SIZE NUL CONTENT". Errors: IO_ERROR;
  // LIMIT_EXCEEDED (more than kObjectBytes or kObjectCount).
  Result<std::string> commit_and_trees(const std::string& commit) const;
  // Passes the content of a blob to `use`. Errors: IO_ERROR (the blob is missing); those of `use`.
  Result<void> with_blob(const std::string& id, const std::function<Result<void>(std::string_view)>& use) const;

 private:
  struct Release {
    void operator()(git_repository* repository) const;
  };
  explicit ObjectReader(git_repository* repository) : repository_(repository) {}
  std::unique_ptr<git_repository, Release> repository_;
};

}  // namespace modlock::git
