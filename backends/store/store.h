#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/base/context.h"
#include "backends/base/file_lock.h"

namespace modlock {

// Below the root of a store: the releases of client programs, in a file per program.
constexpr std::string_view kClientDirectory = "clients";

// A package in the store: a tree that never changes, named by its content.
struct Package {
  std::string id;                   // commit or digest
  std::string h1;                   // "h1:…" over the tree
  std::string modes = {};           // hash_modes() of the tree
  std::filesystem::path directory;  // read-only by convention; copy out of it, never link into it
  Diagnostics warnings = {};        // of the fetch that brought it
  std::string ref = {};             // FetchedTree::ref of that fetch
  std::string subdir = {};          // FetchedTree::subdir
};

// The content-addressed directory of one user, shared by processes. Layout (version 2) below its root:
//   v2/packages/<sha256 hex of h1>-<modes>/tree/…   packages by content and modes; written in v2/tmp, then renamed;
//                                                      beside the tree the empty file `used`, whose time says when it
//                                                      was used last
//   v2/identities/<sha256 hex of identity (registry: and version)>/<id>.json   which content a source's id has:
//   {"source", "id", "h1", "modes"},
//                                                      with "ref" and "subdir" of the fetch where it told them
//   v2/responses/<sha256 hex of URL>.json   what listings answered, with their validators (listing_cache.h)
//   v2/answers/<sha256 hex of question>      what a source gave lately without being asked for an id: {"id", "ref"}
//   v2/trees/<sha256 hex of path>           digests of the files of an installed package (tree_memo.h)
//   v2/installed/<sha256 hex of h1>-<modes>  what `install` installed with this content (install_record.h);
//                                                      `cache prune` leaves it
//   v2/seen/<sha256 hex of package identity>   when a source was first seen to give what it gives (first_seen.h): no
//                                                      cache, for nobody can tell it again; `cache prune` leaves it
//   v2/hashes/<sha256 hex>                  what a provider archive of that digest comes to (provider_hashes.h)
//   v2/git/<sha256 hex of URL without secrets>/  bare repositories
//   v2/locks/<sha256 hex of package identity>    held while a source is fetched, or a provider archive of that digest
//   v2/locks/seen-<sha256 hex of package identity>   held while v2/seen of it is written. Files of v2/locks are empty
//                                                      and stay: who waits for one has it open, and would hold a lock
//                                                      of a removed file beside the next one's of a new file
//   v2/tmp/<random>/                          unfinished work of one process, which holds a lock of the directory; what
//                                                      nobody holds is removed by whoever opens the store next
//   clients/<sha256 hex>                    the release of a client program
class Store {
 public:
  // `root` is created (mode 0700) when first written to. Unfinished work of processes that are dead is removed. Errors:
  // IO_ERROR naming the directory (empty, not a directory, or one that every user may write to and rename in);
  // LOCK_NEWER where its file `layout` holds a number above 2, as a later release would write it.
  static Result<Store> open(std::filesystem::path root);

  const std::filesystem::path& root() const { return root_; }
  // Who else may write to the store, as a sentence about it, and what to do; nullopt where nobody may, and where there
  // is no directory yet.
  std::optional<Error> foreign_writers() const;
  // What releases with another layout left: not read, and removed by `cache prune`.
  std::filesystem::path older_layout() const { return root_ / "v1"; }
  std::filesystem::path git_directory() const;
  std::filesystem::path package_directory() const;
  // The directory of the package with this content, whether or not it is there.
  std::filesystem::path package_directory(std::string_view h1, std::string_view modes) const;
  std::filesystem::path identity_directory() const;
  // The directories of unfinished work, one of each process.
  std::filesystem::path temporary_directory() const;
  // That of this store and its copies, made where it does not exist. Errors: IO_ERROR.
  Result<std::filesystem::path> work_directory() const;
  std::filesystem::path response_directory() const;
  // Errors: IO_ERROR.
  Result<void> make_response_directory() const;
  std::filesystem::path answer_directory() const;
  // Where first_seen.h keeps what it knows.
  std::filesystem::path seen_directory() const;
  // Errors: IO_ERROR.
  Result<void> make_seen_directory() const;
  // Where plugin/install/install_record.h keeps what it knows.
  std::filesystem::path installed_directory() const;
  // Where tree_memo.h keeps what it knows.
  std::filesystem::path tree_directory() const;
  // Errors: IO_ERROR.
  Result<void> make_tree_directory() const;
  // Where provider_hashes.h keeps what it knows.
  std::filesystem::path hash_directory() const;
  // Errors: IO_ERROR.
  Result<void> make_hash_directory() const;
  // The directories of files that are asked or worked out again where they are gone: responses, answers, trees, hashes,
  // clients.
  std::vector<std::filesystem::path> record_directories() const;
  // A new empty directory below work_directory(). Errors: IO_ERROR.
  Result<std::filesystem::path> make_temporary() const;

  // Holds what is fetched of a source against other processes and threads: who has waited looks into the store again
  // before it fetches, so that many who want one thing cause one fetch. Errors: those of FileLock::acquire(); IO_ERROR.
  Result<FileLock> hold(const Source& source, const Context& context) const;

  // The same of a provider archive, by its digest (64 hexadecimal digits).
  Result<FileLock> hold_archive(std::string_view digest, const Context& context) const;

  // The same of what is noted of a source (first_seen.h).
  Result<FileLock> hold_seen(const Source& source, const Context& context) const;

  // The package of (package identity, id), if it is complete in the store; of a registry module also by its version
  // (FetchRequest::ref), for versions may share an id and lie in different directories of it. Unreadable records are as
  // if absent.
  std::optional<Package> find(const Source& source, std::string_view id, std::string_view ref = {}) const;
  // The h1 of what (package identity, id) is recorded to have, whether or not the package is still in the store.
  std::optional<std::string> recorded_h1(const Source& source, std::string_view id, std::string_view ref = {}) const;
  // Notes that a package in the store is what a source has by `package.id` (and `package.ref`). Errors: IO_ERROR.
  Result<void> record(const Source& source, const Package& package) const;
  // The package that a question without an id (its text is the caller's) was answered with at `since` or later.
  // nullopt: there was no such answer, the clock has been set back since, or the package is gone.
  std::optional<Package> find_answer(const Source& source, std::string_view question,
                                     std::filesystem::file_time_type since) const;
  // Notes the answer; failing to is no error.
  void note_answer(std::string_view question, const Package& package) const;
  // A package with these files, if one is in the store (its id is then empty). Only for reading: packages of several
  // sources may differ in modes, and which of them this is is not known.
  std::optional<Package> find_by_h1(std::string_view h1) const;
  // Takes a fetched tree: hashes it (but for what its `digests` tell), moves it in (copies it from another file
  // system), records its identity. Where the content is in the store already, the tree is removed. Any number of
  // processes may admit one package at once. Errors: those of hash_tree(), ARCHIVE_UNSAFE for a file named
  // modlock_override.tf too; IO_ERROR. The tree is then still the caller's.
  Result<Package> admit(const Source& source, FetchedTree tree, const Context& context) const;
  // Forgets a package whose tree no longer has its h1.
  void drop(const Package& package) const;

 private:
  struct Work;
  explicit Store(std::filesystem::path root);
  std::filesystem::path below(std::string_view name) const { return root_ / "v2" / name; }
  Result<FileLock> hold_name(std::string_view name, const Context& context) const;
  std::filesystem::path record_of(const Source& source, std::string_view id, std::string_view ref) const;
  Result<void> make_below(const std::filesystem::path& directory) const;
  Result<void> move_in(const std::filesystem::path& tree, std::string_view h1, std::string_view modes) const;
  std::optional<Package> find_content(std::string_view h1, std::string_view modes) const;

  std::filesystem::path root_;
  std::shared_ptr<Work> work_;
};

// The name under which a package and the record of its installation are kept: "<sha256 hex of h1>-<modes>".
std::string content_key(std::string_view h1, std::string_view modes);
// The modes of what a directory keeps with these files, sorted.
std::vector<std::string> modes_below(const std::filesystem::path& directory, std::string_view h1);

struct StoreSizes {
  std::uint64_t packages = 0;  // count
  std::uint64_t package_bytes = 0;
  std::uint64_t repositories = 0;  // count
  std::uint64_t repository_bytes = 0;
  std::uint64_t records = 0;  // files of Store::record_directories()
  std::uint64_t record_bytes = 0;
  std::uint64_t unfinished_bytes = 0;  // of work that is not finished
};
// What the store holds of what prune() removes by its limits, and unfinished work; sizes are those of the files. What
// disappears meanwhile is not counted. Errors: IO_ERROR.
Result<StoreSizes> measure(const Store& store);

// The sizes of the files below a directory; what other processes remove meanwhile is not counted. Errors: IO_ERROR.
Result<std::uint64_t> bytes_below(const std::filesystem::path& directory);

// Makes the root of a store, for its user alone whatever the umask, where it does not exist. Errors: IO_ERROR.
Result<void> make_store_root(const std::filesystem::path& root);

// $TOFU_MODLOCK_CACHE_DIR is the caller's business; this is $XDG_CACHE_HOME/tofu-modlock where that is an absolute
// path, else ~/.cache/tofu-modlock; empty where there is no home directory.
std::filesystem::path default_store_root();

// What the store found, where its tree still has its h1; files that cannot have changed since it was last looked at are
// not read (tree_memo.h). nullopt where it has not, or cannot be read: the store has then forgotten it, for what was
// damaged must be neither read nor installed. What the run's end interrupts is taken as it is.
std::optional<Package> load_intact_package(const Store& store, std::optional<Package> found, const Context& context);

// What is said of a package that was not whole and has been fetched again.
Diagnostic damage_warning(const Source& source);

}  // namespace modlock
