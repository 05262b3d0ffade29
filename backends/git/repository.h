#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/file_lock.h"
#include "backends/git/objects.h"

namespace modlock::git {

// The cached bare repository of one package source, held only by this thread. A commit is present once it was accepted:
// `refs/modlock/commits/<id>` names it, and its whole tree is there. Objects that arrived but are not accepted yet are
// under `refs/modlock/incoming/`.
class Repository {
 public:
  // Opens `<cache_directory>/<sha256 of identity>`. Creates it if it is missing or broken, and removes the leftovers of
  // a killed git. Errors: OFFLINE_MISS (no earlier run created it), IO_ERROR, REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  static Result<Repository> open(const std::filesystem::path& cache_directory, std::string_view identity,
                                 const Context& context);
  // Returns the same repository, emptied. Errors: IO_ERROR.
  static Result<Repository> empty(Repository damaged);

  const std::filesystem::path& path() const { return path_; }
  // Whether an earlier run created it.
  bool is_old() const { return is_old_; }
  const ObjectReader& objects() const { return objects_; }

  bool has_commit(const std::string& id) const;
  Result<void> accept(const std::string& id) const;
  // A commit that a tree named as its submodule. It is complete but not accepted, because no branch has to reach it.
  bool has_submodule(const std::string& id) const;
  Result<void> keep_submodule(const std::string& id) const;
  static std::string incoming(std::size_t number);
  void clear_incoming() const;
  // Names objects that have arrived without their history; number i becomes incoming(i). Errors: IO_ERROR.
  Result<void> keep_incoming(const std::vector<std::string>& ids) const;
  // Returns an unused path inside the repository for temporary files. The next open() removes leftovers.
  std::filesystem::path make_side_path() const;

 private:
  Repository(std::filesystem::path path, FileLock lock, ObjectReader objects, bool is_old)
      : path_(std::move(path)), lock_(std::move(lock)), objects_(std::move(objects)), is_old_(is_old) {}
  static Result<Repository> make(std::filesystem::path path, FileLock lock);
  Result<void> note_cut_histories(const std::vector<std::string>& ids) const;

  std::filesystem::path path_;
  FileLock lock_;
  ObjectReader objects_;
  bool is_old_;
};

// The file of that name in the directory is kept when a repository is made.
inline constexpr std::string_view kEndpointFile = "modlock-endpoint";

// Removes the partial packs of a git. Returns the size of the largest in bytes.
std::uintmax_t remove_partial_packs(const std::filesystem::path& repository);

// Creates an empty bare repository without templates and hooks. Errors: IO_ERROR.
Result<void> make_bare_repository(const std::filesystem::path& path);

}  // namespace modlock::git
