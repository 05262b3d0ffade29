#pragma once

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

// A version that a source offers.
struct ListedVersion {
  Version version;
  std::string tag;       // as seen: "v1.2.0", "nested/v1.2.0"
  std::string id;        // immutable: commit or manifest digest; empty where only a fetch tells (a registry)
  std::string ref = {};  // FetchRequest::ref for it: "refs/tags/v1.2.0"
  // Another tag that names an equal version with another id ("1.2.0" beside "v1.2.0"): empty where there is none.
  // Selecting an ambiguous version is VERSION_AMBIGUOUS; which of the two is kept here is unspecified.
  std::string ambiguous_with = {};
};

struct SkippedTag {
  std::string tag;
  std::string reason;
};

// What a source offers, newest version first; equal versions with one id appear once.
struct Listing {
  std::vector<ListedVersion> versions;
  std::vector<SkippedTag> skipped;
  std::chrono::system_clock::time_point fetched_at;
  bool complete = true;
  bool is_again = false;  // Backend answered it before: there is nothing new to keep
};

// What a reference (a branch, a tag, HEAD, a full commit id) gives now.
struct Pin {
  std::string id;  // immutable
  std::string
      ref;  // the full name it was found under: "refs/tags/v1.2.0", "refs/heads/main", "HEAD"; empty: an id was given
  bool is_again = false;  // as of a listing
};

// One thing to fetch from a package source.
struct FetchRequest {
  // What must arrive. Empty: whatever `ref` gives now, in the source's own spelling ("v1.2.0", "main", empty: HEAD),
  // which saves asking for it first; a commit id is no such ref.
  std::string id;
  std::string ref;  // where it is expected (Pin::ref, or the source's own spelling); empty: it was named by id
  // True: a lock names `id`; where `ref` now gives something else, the locked id is still taken if it is reachable from
  // an advertised branch or tag (with a TAG_MOVED warning), else HASH_MISMATCH. False: `id` has just been resolved.
  bool locked = false;
};

// A package on disk, complete and checked, in a directory of the caller's.
struct FetchedTree {
  std::string id;
  std::filesystem::path directory;
  Diagnostics warnings;
  std::string ref = {};  // where a request without id was found: "refs/tags/v1.2.0", "refs/heads/main", "HEAD"
  // Where the module lies inside the tree although the source does not say so (a registry's answer); may hold globs.
  std::string subdir = {};
  // Of files of the tree, where they were computed as it was written; the others are read.
  FileDigests digests = {};
};

// How one commit follows from another.
struct CommitDistance {
  bool descends = false;    // the older is among the ancestors of the newer
  std::size_t commits = 0;  // if it is: those that the newer has and the older has not
};

// The value of the first hash of that scheme ("git" in "git:8f2c…"); empty if there is none.
std::string find_hash(std::span<const std::string> hashes, std::string_view scheme);

// What a kind of source does in its own way; Backend does what all share. Implementations are thread-safe, keep no
// state but caches, never prompt, stop at the deadline and on cancellation, and never put a secret of their own into an
// error, a log line or a path. With Context::offline they send nothing: what they cannot answer without is
// OFFLINE_MISS.
//
// Errors of every call: NOT_FOUND (repository, tag or version is not there), AUTH_REQUIRED, FORBIDDEN, RATE_LIMITED,
// UNREACHABLE, TIMEOUT, DEADLINE_EXCEEDED, REQUEST_CANCELLED, BAD_RESPONSE, TOOL_MISSING, SOURCE_DENIED, OFFLINE_MISS,
// IO_ERROR.
class BackendCore {
 public:
  virtual ~BackendCore() = default;

  // Whether it serves the source; every other call may assume so.
  virtual bool serves(const Source& source) const = 0;

  // All versions of the package. One request; tags that name no version under `tag_prefix` are in `skipped`.
  virtual Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                        const Context& context) = 0;

  // What the source's own reference (`?ref=`, else HEAD) gives now. NOT_FOUND names the reference.
  virtual Result<Pin> pin(const SourceAddress& source, const Context& context) = 0;

  // Fetches the requested ids of one package source, with one request if the transport allows; result i belongs to
  // request i. Each tree is in a new directory below `parent`.
  virtual std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                                 const std::filesystem::path& parent, const Context& context) = 0;

  // The scheme of its ids in a lock file: "git" if the id 8f2c… is the hash "git:8f2c…". Empty: an id is such a hash
  // text already, of any scheme, because packages come from elsewhere.
  virtual std::string hash_scheme() const { return {}; }

  // How `newer`, which a reference gives now, follows from `older`, which it gave once. nullopt: the source has no
  // history, or it cannot be determined.
  virtual std::optional<CommitDistance> commit_distance(const SourceAddress& /*source*/, const std::string& /*older*/,
                                                        const std::string& /*newer*/, const Context& /*context*/) {
    return std::nullopt;
  }

  // SOURCE_DENIED if the source may be used only if the user names it, and not if a server does.
  virtual Result<void> check_redirected(const SourceAddress& /*source*/, const Context& /*context*/) { return {}; }
};

struct BackendOptions {
  // The secrets that no result shows. Each call adds what the address of its source contains. They outlive the backend;
  // null: it has its own.
  KnownSecrets* secrets = nullptr;
  // Whether a question is answered only once, for a run over many roots. Failures are kept too; who asks the same at
  // the same time waits. What a run may not ask (Context::check_source) it does not get from memory either. Fetched
  // trees are not kept: the store has them.
  bool memoizes = false;
};

// One way to reach module packages: a core, and what is the same for all of them. Thread-safe; the calls are those of
// BackendCore and have its errors.
//
// Errors, warnings, log lines and listings show nothing that the secrets contain. A version whose tag contains a secret
// is skipped, for it would be written into lock files; BAD_RESPONSE if a registry places a module in a directory that
// is named so.
class Backend final {
 public:
  explicit Backend(std::unique_ptr<BackendCore> core, BackendOptions options = {});
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  bool serves(const Source& source) const { return core_->serves(source); }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix, const Context& context);
  Result<Pin> pin(const SourceAddress& source, const Context& context);
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context);
  std::optional<CommitDistance> commit_distance(const SourceAddress& source, const std::string& older,
                                                const std::string& newer, const Context& context);
  Result<void> check_redirected(const SourceAddress& source, const Context& context);

  // Whether list_versions() or pin() would answer from memory, without a request and without waiting.
  bool knows_versions(const SourceAddress& source, std::string_view tag_prefix) const;
  bool knows_pin(const SourceAddress& source) const;

  // The lock file's hash text for an id: "git:<commit>", "oci:sha256:…", "zh:…".
  std::string id_hash(std::string_view id) const;
  // The id that hashes of a lock entry name (the reverse of id_hash()); empty if none does.
  std::string id_of(std::span<const std::string> hashes) const;

 private:
  struct Memory;

  const std::unique_ptr<BackendCore> core_;
  KnownSecrets own_secrets_;
  KnownSecrets& secrets_;
  const std::unique_ptr<Memory> memory_;  // null: it does not memoize
};

// Whether a source may be used that a server names (a registry's answer, X-Terraform-Get). SOURCE_DENIED for what is on
// this machine, whose files are none of a server's business (OpenTofu follows there), and if Context::check_source says
// so. A local git repository is checked by Backend::check_redirected().
Result<void> check_redirected_source(const Source& source, const Context& context);

// The backends of one process, and the rule which serves a source: the first that says so.
class BackendSet {
 public:
  void add(std::unique_ptr<BackendCore> core, BackendOptions options = {}) {
    backends_.push_back(std::make_unique<Backend>(std::move(core), options));
  }

  // Null if none serves the source.
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
