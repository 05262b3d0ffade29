#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/address/source.h"
#include "backends/address/version.h"
#include "backends/base/context.h"
#include "backends/base/files.h"
#include "protocol/base/result.h"

namespace modlock {

// Reads RFC 3339 with any fraction of a second, which is cut off. nullopt for any other text, and for years outside of
// 1970 to 2200.
std::optional<std::chrono::system_clock::time_point> read_time(const std::string& text);

// A version that a source offers.
struct ListedVersion {
  Version version;
  std::string tag;       // as seen: "v1.2.0", "nested/v1.2.0"
  std::string id;        // immutable: commit or manifest digest; empty if only a fetch can determine it (a registry)
  std::string ref = {};  // FetchRequest::ref for it: "refs/tags/v1.2.0"
  // Another tag that names an equal version with a different id ("1.2.0" next to "v1.2.0"); empty if there is none.
  // Selecting an ambiguous version is VERSION_AMBIGUOUS; which of the two is kept here is unspecified.
  std::string ambiguous_with = {};
  // When the source claims to have published it, in whole seconds. BackendCore::trusts_dates tells whether to believe
  // it.
  std::optional<std::chrono::system_clock::time_point> published = {};
  std::optional<std::string> deprecated = {};  // the source's reason not to use it, which may be empty; unset: none
};

struct SkippedTag {
  std::string tag;
  std::string reason;
};

// The versions that a source offers, newest first; equal versions with the same id appear once.
struct Listing {
  std::vector<ListedVersion> versions;
  std::vector<SkippedTag> skipped;
  std::chrono::system_clock::time_point fetched_at;
  bool complete = true;
  bool is_again = false;  // Backend returned it before: there is nothing new to cache
  // The printable address of another repository that the server redirected to; empty: none, or it is not known.
  std::string redirected_to = {};
};

// The id that a reference (a branch, a tag, HEAD, a full commit id) points to now.
struct Pin {
  std::string id;  // immutable
  std::string
      ref;  // the full name it was found under: "refs/tags/v1.2.0", "refs/heads/main", "HEAD"; empty: an id was given
  bool is_again = false;           // like Listing::is_again
  std::string redirected_to = {};  // like Listing::redirected_to
};

// One thing to fetch from a package source.
struct FetchRequest {
  // The id to fetch. Empty: the current target of `ref`, which is then in the source's own spelling ("v1.2.0", "main",
  // empty: HEAD) and not a commit id. This saves a request to resolve `ref` first.
  std::string id;
  std::string ref;  // where `id` is expected (Pin::ref, or the source's own spelling); empty: it was named by id
  // True: a lock contains `id`. If `ref` now points to another id, the locked id is still fetched if it is reachable
  // from an advertised branch or tag (with a TAG_MOVED warning), else HASH_MISMATCH. False: `id` has just been
  // resolved.
  bool locked = false;
  // An id whose content the caller has, and its FetchedTree::validator. If the source states that it is unchanged, the
  // result has no directory. Without `id`.
  std::string held = {};
  std::string validator = {};
};

// A complete and checked package on disk, in a directory that the caller owns.
struct FetchedTree {
  std::string id;
  std::filesystem::path directory;
  Diagnostics warnings;
  std::string ref = {};  // where a request without id was found: "refs/tags/v1.2.0", "refs/heads/main", "HEAD"
  // The directory of the module inside the tree if the source itself does not name it (a registry's response); may
  // contain globs.
  std::string subdir = {};
  // The immutable address of the package, without secrets, if the source itself does not name it: what a registry
  // returned, with the commit or digest, or "registry::host/namespace/name/system@1.2.3" if it hosts the package.
  std::string package = {};
  // When the publisher claims to have made it, in whole seconds: the date of the commit, or the annotation of the
  // manifest.
  std::optional<std::chrono::system_clock::time_point> claimed = {};
  // The ETag of the server, and the address that sent it. Empty: none.
  std::string validator = {};
  // The digests of files that were hashed while they were written; the others have to be read.
  FileDigests digests = {};
};

// A signature that a release must have.
struct SignatureDemand {
  enum class Format { ssh, openpgp };
  Format format = Format::ssh;
  std::string keys;        // an allowed-signers file of ssh-keygen, or OpenPGP public keys
  std::string keys_name;   // their file, for messages
  bool of_commit = false;  // the commit is signed, not the tag; always true of branches and commits
};

struct CommitDistance {
  bool descends = false;    // the older commit is an ancestor of the newer one
  std::size_t commits = 0;  // if so: the number of commits that only the newer one has
};

// Returns the value of the first hash with that scheme ("git" in "git:8f2c…"); empty if there is none.
std::string find_hash(std::span<const std::string> hashes, std::string_view scheme);

// What only a backend for git can do. The rules and errors of BackendCore apply.
class GitAbilities {
 public:
  virtual ~GitAbilities() = default;

  // Returns how `newer`, the current target of a reference, follows from `older`, an earlier target. nullopt: the
  // distance cannot be determined.
  virtual std::optional<CommitDistance> commit_distance(const SourceAddress& source, const std::string& older,
                                                        const std::string& newer, const Context& context) = 0;

  // Returns a bare git repository that has the commits of these requests. Fetches those that it lacks, by the rules of
  // BackendCore::fetch(). It belongs to the backend, and may have other commits too.
  virtual Result<std::filesystem::path> repository_with(const SourceAddress& source,
                                                        std::span<const FetchRequest> requests,
                                                        const Context& context) = 0;

  // Checks that the tag `request.ref` is signed and points to the commit `request.id`, or that the commit is signed.
  // Returns the signer, for people. Errors: SIGNATURE_INVALID; TOOL_MISSING (git, ssh-keygen or gpg).
  virtual Result<std::string> verify_signature(const SourceAddress& source, const FetchRequest& request,
                                               const SignatureDemand& demand, const Context& context) = 0;

  // Returns SOURCE_DENIED if a user may name the source but a server may not.
  virtual Result<void> check_redirected(const SourceAddress& source, const Context& context) = 0;
};

// The part of a backend that depends on the kind of source; Backend adds what all kinds share. Implementations are
// thread-safe, have no state except caches, never prompt, and stop at the deadline and on cancellation. They never put
// a secret of their own into an error, a log line or a path. With Context::offline they send nothing and return
// OFFLINE_MISS if they cannot answer without a request.
//
// Errors of every call: NOT_FOUND (repository, tag or version not found), AUTH_REQUIRED, FORBIDDEN, RATE_LIMITED,
// UNREACHABLE, TIMEOUT, DEADLINE_EXCEEDED, REQUEST_CANCELLED, BAD_RESPONSE, TOOL_MISSING, SOURCE_DENIED, OFFLINE_MISS,
// IO_ERROR.
class BackendCore {
 public:
  virtual ~BackendCore() = default;

  // Returns whether it serves the source. Every other call may assume that it does.
  virtual bool serves(const Source& source) const = 0;

  // Returns all versions of the package, with one request. Tags that name no version under `tag_prefix` are in
  // `skipped`.
  virtual Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                        const Context& context) = 0;

  // Returns the id that the source's own reference (`?ref=`, else HEAD) points to now. NOT_FOUND names the reference.
  virtual Result<Pin> pin(const SourceAddress& source, const Context& context) = 0;

  // Fetches the requested ids of one package source, with one request if the transport allows; result i belongs to
  // request i. Each tree is in a new directory below `parent`.
  virtual std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                                 const std::filesystem::path& parent, const Context& context) = 0;

  // Returns the scheme of its ids in a lock file: "git" if the hash of id 8f2c… is "git:8f2c…". Empty: an id already is
  // a hash text with a scheme, because the packages come from other sources.
  virtual std::string hash_scheme() const { return {}; }

  // Returns whether ListedVersion::published of the source was set by a host that the user trusts, and not by the
  // publisher of the version.
  virtual bool trusts_dates(const Source& /*source*/) const { return false; }

  // Returns the external program that answers, for messages: `the backend "git" ("/usr/local/bin/git-backend")`. Empty:
  // it is built in.
  virtual std::string answered_by() const { return {}; }

  // Returns what this backend can do with the commits of its sources; null: they have none, or no history.
  virtual GitAbilities* git() { return nullptr; }
};

struct BackendOptions {
  // The secrets that no result may contain. Each call adds those in the address of its source. They outlive the
  // backend; null: the backend has its own.
  KnownSecrets* secrets = nullptr;
  // Makes each query only once, for a run over many roots. Failures are kept too, and concurrent callers with the same
  // query share its result. The policy (Context::check_source) of a run still applies. Fetched trees are not kept: they
  // are in the store.
  bool memoizes = false;
  // The only hosts that it serves, as Source::host has them. Empty: all.
  std::vector<std::string> hosts = {};
};

// A core with the behavior that all backends share. Thread-safe; the calls and errors are those of BackendCore and
// GitAbilities. Of a source that is not one of git, commit_distance() is nullopt, check_redirected() allows it,
// repository_with() fails with SOURCE_UNSUPPORTED, and verify_signature() with SIGNATURE_INVALID.
//
// Errors, warnings, log lines and listings contain none of the secrets. A version whose tag contains a secret is
// skipped, because the tag would be written into lock files. If a registry places a module in a directory whose name
// contains a secret, the fetch is BAD_RESPONSE.
class Backend final {
 public:
  explicit Backend(std::unique_ptr<BackendCore> core, BackendOptions options = {});
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  bool serves(const Source& source) const {
    return core_->serves(source) && (hosts_.empty() || std::ranges::find(hosts_, source.host) != hosts_.end());
  }
  bool trusts_dates(const Source& source) const { return core_->trusts_dates(source); }
  std::string answered_by() const { return core_->answered_by(); }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix, const Context& context);
  Result<Pin> pin(const SourceAddress& source, const Context& context);
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context);
  std::optional<CommitDistance> commit_distance(const SourceAddress& source, const std::string& older,
                                                const std::string& newer, const Context& context);
  Result<std::filesystem::path> repository_with(const SourceAddress& source, std::span<const FetchRequest> requests,
                                                const Context& context);
  Result<std::string> verify_signature(const SourceAddress& source, const FetchRequest& request,
                                       const SignatureDemand& demand, const Context& context);
  Result<void> check_redirected(const SourceAddress& source, const Context& context);

  // Returns whether list_versions() or pin() would answer from memory, without a request and without waiting.
  bool knows_versions(const SourceAddress& source, std::string_view tag_prefix) const;
  bool knows_pin(const SourceAddress& source) const;

  // Returns the lock file's hash text for an id: "git:<commit>", "oci:sha256:…", "zh:…".
  std::string id_hash(std::string_view id) const;
  // Returns the id that the hashes of a lock entry contain (the reverse of id_hash()); empty if they contain none.
  std::string id_of(std::span<const std::string> hashes) const;

 private:
  struct Memory;

  const std::unique_ptr<BackendCore> core_;
  const std::vector<std::string> hosts_;
  KnownSecrets own_secrets_;
  KnownSecrets& secrets_;
  const std::unique_ptr<Memory> memory_;  // null: it does not memoize
};

// Checks whether a server (a registry's response, X-Terraform-Get) may name this source. SOURCE_DENIED if it is on this
// machine, because a server must not choose local files (OpenTofu allows it), or if Context::check_source denies it.
// Backend::check_redirected() checks local git repositories.
Result<void> check_redirected_source(const Source& source, const Context& context);

// The backends of one process. The first one that serves a source is used.
class BackendSet {
 public:
  void add(std::unique_ptr<BackendCore> core, BackendOptions options = {}) {
    backends_.push_back(std::make_unique<Backend>(std::move(core), options));
  }

  // Returns null if no backend serves the source.
  Backend* find(const Source& source) const {
    for (const auto& backend : backends_) {
      if (backend->serves(source)) {
        return backend.get();
      }
    }
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace modlock
