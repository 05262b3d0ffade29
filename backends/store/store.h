#pragma once

#include <json/value.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backends/backend.h"
#include "backends/base/context.h"
#include "backends/base/file_lock.h"
#include "protocol/messages/cache.h"

namespace modlock {

// The directory of client program versions below the root of a store, one file per program.
constexpr std::string_view kClientDirectory = "clients";

// A package in the store: a tree that never changes, named by its content.
struct Package {
  std::string id;                   // commit or digest
  std::string h1;                   // "h1:…" over the tree
  std::string modes = {};           // hash_modes() of the tree
  std::filesystem::path directory;  // read-only by convention; copy out of it, or link to it (links.h)
  Diagnostics warnings = {};        // of the fetch
  std::string ref = {};             // FetchedTree::ref of that fetch
  std::string subdir = {};          // FetchedTree::subdir
  std::string package = {};         // FetchedTree::package
  std::optional<std::chrono::system_clock::time_point> claimed = {};  // FetchedTree::claimed
  std::string validator = {};                                         // FetchedTree::validator
};

// The content-addressed directory of one user, shared by processes. Layout (version 2) below its root:
//   v2/packages/<sha256 hex of h1>-<modes>/tree/…   packages by content and modes; written in v2/tmp, then renamed.
//                                                      The time of the empty file `used` next to the tree is its last
//                                                      use. A file `sealed`: the files of the tree are read-only,
//                                                      because root modules link to it (links.h)
//   v2/proven/<sha256 hex of origin and h1>-<modes>/tree/…   packages of a remote store that are proven to be the
//                                                      content of a commit ("git:<commit>"), which proves no source.
//                                                      The file `trees` next to the tree has the commit and its trees,
//                                                      and `claims` has a file for each source for which a bundle or
//                                                      store listed the package
//   v2/links/<sha256 hex of path>            packages that the root module with this data directory links to (links.h)
//   v2/identities/<sha256 hex of identity (registry: and version)>/<id>.json   the content of a source at an id:
//                                                      {"source", "id", "h1", "modes"}, with "ref", "subdir",
//                                                      "package", "claimed" and "validator" if the fetch returned them.
//                                                      One with "by" may be a claim of these backends (set_claims())
//   v2/responses/<sha256 hex of URL>.json   responses of listings, with their validators (listing_cache.h)
//   v2/answers/<sha256 hex of question>      recent answers of a source to queries without an id: {"id", "ref"}
//   v2/trees/<sha256 hex of path>           digests of the files of an installed package (tree_memo.h)
//   v2/installed/<sha256 hex of h1>-<modes>  installations of this content by `install` (install_record.h);
//                                                      `cache prune` keeps it. Those of a run with claims are in a
//                                                      directory of it
//   v2/seen/<sha256 hex of package identity>   when an id was first seen at a source (first_seen.h); not a cache,
//                                                      because it cannot be recreated: `cache prune` keeps it
//   v2/hashes/<sha256 hex>                  hashes of the provider archive with that digest (provider_hashes.h)
//   v2/downloads/<sha256 hex of path>        the files that a download of Terragrunt may have more than the locked
//   package
//                                                      (source_lock.h)
//   v2/git/<sha256 hex of URL without secrets>/  bare repositories
//   v2/locks/<sha256 hex of package identity>    locked while a source or the provider archive of a digest is fetched
//   v2/locks/seen-<sha256 hex of package identity>   locked while v2/seen of it is written. Files of v2/locks are empty
//                                                      and never removed: a process that waits for one has it open, and
//                                                      would lock the removed file while another locks a new one
//   v2/tmp/<random>/                          unfinished work of one process, which locks the directory; the next
//                                                      process that opens the store removes unlocked ones
//   clients/<sha256 hex>                    the version of a client program
class Store {
 public:
  // `root` is created (mode 0700) by the first write, which fails if it is empty or cannot be reached. The unfinished
  // work of dead processes is removed. Errors: IO_ERROR naming the directory (not a directory, or every user may write
  // to it and rename in it); LOCK_NEWER if its file `layout` has a number above 2, which a later release has written.
  static Result<Store> open(std::filesystem::path root);

  const std::filesystem::path& root() const { return root_; }
  // External backends, of which `by` is a digest, answer for sources of built-in kinds. What they say of a source is
  // their claim, which proves nothing to a run without the same ones: from now on, records of sources are written apart
  // from those of other runs. Records of runs without such backends are read too.
  void set_claims(std::string by) { claims_ = std::move(by); }
  // Returns a message and hint about other users who may write to the store; nullopt if there are none or no directory
  // yet.
  std::optional<Error> foreign_writers() const;
  // The directory that releases with the older layout wrote. It is not read; `cache prune` removes it.
  std::filesystem::path older_layout() const { return root_ / "v1"; }
  std::filesystem::path git_directory() const { return below("git"); }
  std::filesystem::path package_directory() const { return below("packages"); }
  // Returns the directory of the package with this content, even if it does not exist.
  std::filesystem::path package_directory(std::string_view h1, std::string_view modes) const;
  std::filesystem::path proven_directory() const { return below("proven"); }
  std::filesystem::path identity_directory() const { return below("identities"); }
  // The parent of the work directories, one per process.
  std::filesystem::path temporary_directory() const { return below("tmp"); }
  // Returns the work directory of this store and its copies; creates it if necessary. Errors: IO_ERROR.
  Result<std::filesystem::path> work_directory() const;
  std::filesystem::path response_directory() const { return below("responses"); }
  std::filesystem::path answer_directory() const { return below("answers"); }
  std::filesystem::path seen_directory() const { return below("seen"); }
  // The first one is that of this run. With claims, that of runs without them is next.
  std::vector<std::filesystem::path> installed_directories() const;
  std::filesystem::path link_directory() const { return below("links"); }
  std::filesystem::path tree_directory() const { return below("trees"); }
  std::filesystem::path hash_directory() const { return below("hashes"); }
  std::filesystem::path download_directory() const { return below("downloads"); }
  // The directories of files that are requested or computed again if they are missing: responses, answers, trees,
  // hashes, downloads, clients.
  std::vector<std::filesystem::path> record_directories() const;
  // Makes a directory of this store, and its root if necessary. Errors: IO_ERROR.
  Result<void> make(const std::filesystem::path& directory) const;
  // Makes a new empty directory below work_directory(). Errors: IO_ERROR.
  Result<std::filesystem::path> make_temporary() const;

  // Locks the fetching of a source against other processes and threads. A caller that had to wait must look into the
  // store again before it fetches, so that concurrent callers cause only one fetch. Errors: those of
  // FileLock::acquire(); IO_ERROR.
  Result<FileLock> hold(const Source& source, const Context& context) const;

  // The same for the name of another file of v2/locks: the digest of a provider archive, or "seen-…" (first_seen.h).
  Result<FileLock> hold(std::string_view name, const Context& context) const;

  // Returns the package of (package identity, id) if it is complete in the store. A registry module is also identified
  // by its version (FetchRequest::ref), because versions may share an id and be in different directories of it.
  // Unreadable records are treated as absent.
  std::optional<Package> find(const Source& source, std::string_view id, std::string_view ref = {}) const;
  // Returns the recorded h1 of (package identity, id), even if the package is no longer in the store.
  std::optional<std::string> recorded_h1(const Source& source, std::string_view id, std::string_view ref = {}) const;
  // Records that a package in the store is the content of a source at `package.id` (and `package.ref`). Errors:
  // IO_ERROR.
  Result<void> record(const Source& source, const Package& package) const;
  // Returns the name of an answer to a question for stores with the same claims.
  std::string key_of(std::string_view question) const;
  // Returns the package that was recorded at `since` or later as the answer to a query without an id (the caller
  // chooses its text). nullopt: no such answer, the clock was set back since, or the package no longer exists.
  std::optional<Package> find_answer(const Source& source, std::string_view question,
                                     std::filesystem::file_time_type since) const;
  // Records the answer for stores with the same claims; a failure is no error.
  void note_answer(std::string_view question, const Package& package) const;
  // Returns a package with these files if the store has one (its id is then empty). Only for reading: packages of
  // several sources may differ in modes, and it is unspecified which of them is returned.
  std::optional<Package> find_by_h1(std::string_view h1) const;
  // Adds a fetched tree: hashes it (except the files in its `digests`), moves it into the store (copies it from another
  // file system), and records its identity. If the store already has the content, the tree is removed. Any number of
  // processes may admit the same package concurrently. Errors: those of hash_tree(), and ARCHIVE_UNSAFE for a file
  // named modlock_override.tf; IO_ERROR. After an error the tree still belongs to the caller.
  Result<Package> admit(const Source& source, FetchedTree tree, const Context& context) const;
  // Returns the package that was added as the content of an origin ("git:<commit>"), which proves nothing about a
  // source. One without its h1 and modes is removed, but not one that cannot be read: nullopt for both.
  std::optional<Package> find_proven(std::string_view origin, std::string_view h1, const Context& context) const;
  // Moves a tree into the store, whose h1 and modes are proven to be those of the origin. Errors: those of admit().
  Result<Package> admit_proven(const std::filesystem::path& tree, std::string_view origin, std::string_view h1,
                               std::string_view modes) const;
  // Records, and returns, that the bundle or store `by` lists a package of find_proven() for a source
  // (Source::package_identity()). This is the claim of its writer, and no proof. Empty `by`: any bundle or store. A
  // failure to record is no error.
  void note_claim(const Package& package, std::string_view source, std::string_view by) const;
  bool is_claimed(const Package& package, std::string_view source, std::string_view by) const;
  // Returns the sorted modes of all content with this h1 that a directory contains. The directory is listed again only
  // if an entry was added or removed since the last call.
  std::vector<std::string> modes_below(const std::filesystem::path& directory, std::string_view h1) const;
  // Removes a package of this store whose tree no longer has its h1.
  void drop(const Package& package) const;
  // Removes a directory of this store in one step, so that no process finds half of it. It is no error if it does not
  // exist. Errors: IO_ERROR.
  Result<void> remove_at_once(const std::filesystem::path& directory) const;

 private:
  struct Work;
  explicit Store(std::filesystem::path root);
  std::filesystem::path below(std::string_view name) const { return root_ / "v2" / name; }
  std::filesystem::path record_of(const Source& source, std::string_view id, std::string_view ref,
                                  const std::string& by) const;
  std::optional<Json::Value> find_record(const Source& source, std::string_view id, std::string_view ref) const;
  Result<void> move_in(const std::filesystem::path& tree, const std::filesystem::path& target) const;
  std::optional<Package> find_content(std::string_view h1, std::string_view modes) const;

  std::filesystem::path root_;
  std::string claims_;  // empty: there are none
  std::shared_ptr<Work> work_;
};

// Returns the name under which a package and its installation record are stored: "<sha256 hex of h1>-<modes>".
std::string content_key(std::string_view h1, std::string_view modes);

// Measures everything that prune() removes by its limits, and unfinished work, by file sizes. Files that disappear
// concurrently are not counted. Errors: IO_ERROR.
Result<messages::CacheSizes> measure(const Store& store);

// Returns the total size of the files below a directory, without files that other processes remove concurrently.
// Errors: IO_ERROR.
Result<std::uint64_t> bytes_below(const std::filesystem::path& directory);

// Makes the root of a store if it does not exist, accessible only to its user regardless of the umask. Errors:
// IO_ERROR.
Result<void> make_store_root(const std::filesystem::path& root);

// Returns $XDG_CACHE_HOME/tofu-modlock, else ~/.cache/tofu-modlock (environment.h); empty if there is no home
// directory. The caller handles $TOFU_MODLOCK_CACHE_DIR.
std::filesystem::path default_store_root();

// The packages of a store that load_intact_package() has found intact, which it need not check again. Thread-safe.
class IntactPackages {
 public:
  bool has(const Package& package);
  void add(const Package& package);

 private:
  std::mutex mutex_;
  std::set<std::tuple<std::filesystem::path, std::string, std::string>> known_;  // directory, h1, modes
};

// Returns the found package if its tree still has its h1 and its modes. Files that cannot have changed since the last
// check are not read (tree_memo.h). nullopt if they differ: the store has then dropped the package, because it must be
// neither read nor installed. Context::intact knows what was checked before. If the run ends meanwhile, the package is
// returned unchecked. Errors: IO_ERROR, which proves no damage: the store keeps the package, because root modules may
// link to it.
Result<std::optional<Package>> load_intact_package(const Store& store, std::optional<Package> found,
                                                   const Context& context);

// Returns whether the tree of a package still has its h1 and its modes, by the same rule. It removes nothing.
bool is_intact(const Store& store, const Package& package, const Context& context);

// Returns the warning that a damaged package was fetched again.
Diagnostic damage_warning(const Source& source);

}  // namespace modlock
