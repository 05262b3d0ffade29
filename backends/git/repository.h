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

// The cached bare repository of one package source, held by this thread alone. A commit counts as present once it has
// been accepted: then `refs/modlock/commits/<id>` names it, and its whole tree is there. What has arrived but is not
// accepted yet stands under `refs/modlock/incoming/`.
class Repository {
 public:
  // Opens `<cache_directory>/<sha256 of identity>`, making it where it is not there or broken, and clears what a killed
  // git left behind. Errors: IO_ERROR, REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  static Result<Repository> open(const std::filesystem::path& cache_directory, std::string_view identity,
                                 const Context& context);
  // The same repository with nothing in it. Errors: IO_ERROR.
  static Result<Repository> empty(Repository damaged);
  // Whether an earlier run left the commit there; makes nothing.
  static bool exists(const std::filesystem::path& cache_directory, std::string_view identity);

  const std::filesystem::path& path() const { return path_; }
  // Whether an earlier run made it.
  bool is_old() const { return is_old_; }
  const ObjectReader& objects() const { return objects_; }

  bool has_commit(const std::string& id) const;
  Result<void> accept(const std::string& id) const;
  // A commit that a tree named as its submodule: whole, and not accepted, for no branch need lead to it.
  bool has_submodule(const std::string& id) const;
  Result<void> keep_submodule(const std::string& id) const;
  static std::string incoming(std::size_t number);
  void clear_incoming() const;
  // Names objects that have arrived without their history: number i is incoming(i). Errors: IO_ERROR.
  Result<void> keep_incoming(const std::vector<std::string>& ids) const;
  // A name inside that nothing has yet, for what lives a moment. Left there it goes with the next open().
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

// Removes the packs that a git left there half written: how many bytes the largest had.
std::uintmax_t remove_partial_packs(const std::filesystem::path& repository);

// An empty bare repository without templates and hooks. Errors: IO_ERROR.
Result<void> make_bare_repository(const std::filesystem::path& path);

}  // namespace modlock::git
