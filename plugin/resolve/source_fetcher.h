#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/store/first_seen.h"
#include "backends/store/store.h"

namespace modlock {

// Sends the requests of one run. It sends each request only once, and independent requests in parallel. Responses are
// recorded in the store with the time at which they were first seen. Use from one thread.
class SourceFetcher {
 public:
  using Time = FirstSeen::Time;

  // A package that any process fetched from a source at `fresh_since` or later, without a requested id, is not fetched
  // again: concurrent requests cause one fetch. Unset: it is fetched again.
  SourceFetcher(const BackendSet& backends, const Store& store, const Context& context,
                std::optional<std::filesystem::file_time_type> fresh_since = std::nullopt,
                Time now = std::chrono::system_clock::now())
      : backends_(backends), store_(store), context_(context), fresh_since_(fresh_since), now_(now) {}

  struct ListingRequest {
    const SourceAddress* source = nullptr;
    std::string tag_prefix;
  };
  struct PackageRequest {
    const SourceAddress* source = nullptr;
    FetchRequest request;
  };
  // All requests to one package source.
  struct FetchTask {
    std::vector<ListingRequest> listings = {};
    std::vector<const SourceAddress*> pins = {};
    // Called once, on any thread, when all of these are known, including failures. Returns the packages to fetch.
    // Empty: there are none.
    std::function<std::vector<PackageRequest>()> choose = {};
  };

  Backend* backend(const Source& source) const { return backends_.find(source); }
  // Returns the package of a request with an id, if the store has it.
  std::optional<Package> stored(const Source& source, const FetchRequest& request) const;
  // Records that the package of a request has the content that is locked for its id, although it came with another id
  // (an archive that was repacked). From now on the store finds it also by the requested id.
  void remember(const Source& source, const FetchRequest& request, const Package& package) const;

  // Returns a key for the package source. Addresses with the same key share their requests.
  static std::string package_key(const SourceAddress& address);
  // Runs fetch tasks in parallel, each for a different package source and independent of the others: sends missing
  // requests, calls `choose`, and fetches the packages into the store. Packages in the store cost nothing, the others
  // one fetch. A backend must serve every source.
  void run(std::span<const FetchTask> tasks);

  // Requests only listings and references, in parallel.
  void list(std::span<const ListingRequest> requests, std::span<const SourceAddress* const> pins = {});

  // Returns a response that a fetch task requested. `choose` of that task may already read it.
  const Result<Listing>& listing(const SourceAddress& source, std::string_view tag_prefix) const;
  // Returns since when each version of a listing is known, in their order; empty if the listing failed. If the user
  // trusts the dates of the registry, it is the date that the registry gives. Otherwise it is when the cache first saw
  // the version, or a later date that the source claims.
  const std::vector<Time>& known_since(const SourceAddress& source, std::string_view tag_prefix) const;
  // Sets known_since() of a version of a listing to the date that its package claims, if that is later. Returns whether
  // it was.
  bool apply_claim(const SourceAddress& source, std::string_view tag_prefix, const std::string& ref, Time claimed);
  const Result<Pin>& pinned(const Source& source) const;
  // Returns the listing without a tag prefix, or null if this run did not request it or the request failed.
  const Listing* known_listing(const SourceAddress& source) const;

  // Returns a version of the listing without a tag prefix, by its FetchRequest::ref; null if it is not known.
  const ListedVersion* known_version(const Source& source, const std::string& ref) const;

  // Returns a warning REGISTRY_NOTICE for each package of this run whose server redirected to another repository.
  Diagnostics redirect_warnings() const;

  // Returns the time of the run.
  Time now() const { return now_; }
  // Records that a source serves an id under a reference. Returns since when that is known. If a listing contained the
  // reference without its id, only the reference is compared.
  Time note(const Source& source, const std::string& ref, const std::string& id) const;
  // Returns when that was recorded for this reference; nullopt: never.
  std::optional<Time> first_seen_as(const Source& source, const std::string& ref, const std::string& id) const;
  // Returns the last other id that was recorded for this reference; empty if there is none.
  std::string other_id(const Source& source, const std::string& ref, const std::string& id) const;
  // Returns since when that is known, by the rules of known_since(), also under any other reference; nullopt: unknown.
  std::optional<Time> first_seen(const Source& source, const std::string& ref, const std::string& id) const;

  // Returns the date that the publisher of a package in the store claims; nullopt: none.
  std::optional<Time> claimed(const Source& source, const std::string& ref, const std::string& id) const;

  // Returns a package that a fetch task fetched; without a directory if FetchRequest::held is unchanged.
  const Result<Package>& package(const SourceAddress& source, const FetchRequest& request) const;

 private:
  using Key = std::pair<std::string, std::string>;
  struct Missing {
    const PackageRequest* request = nullptr;
    Result<Package>* package = nullptr;
    bool is_damaged = false;  // the package in the store
  };
  using Work = std::vector<std::function<void()>>;  // may run in any order or in parallel
  Work questions_of(const FetchTask& task);
  bool knows_answers(const FetchTask& task) const;
  std::vector<Missing> take_stored(std::span<const PackageRequest> requests);
  void fetch_missing(std::vector<Missing> missing);
  Result<Package>* add_package(const PackageRequest& request);
  static std::string question_of(const PackageRequest& request);
  Time known_since(const Source& source, const ListedVersion& version, Time first_seen) const;
  // Reads the package from the store, if possible.
  bool take_stored(Missing& wanted) const;
  static void warn_damaged_package(const Missing& wanted);
  void fetch(std::span<const Missing> missing);
  void report(const std::string& message) const;

  const BackendSet& backends_;
  const Store& store_;
  const Context& context_;
  std::optional<std::filesystem::file_time_type> fresh_since_;
  Time now_;
  struct Listed {
    Result<Listing> listing;
    std::vector<Time> known_since;
  };
  std::size_t tasks_ = 0;  // of the current run()
  std::atomic<std::size_t> tasks_done_ = 0;
  std::map<Key, Listed> listings_;           // package, tag prefix
  std::map<std::string, Result<Pin>> pins_;  // identity
  std::mutex mutex_;                         // of packages_, which fetch tasks extend while others run
  std::map<Key, Result<Package>> packages_;  // package, id and (if it may matter) reference
};

}  // namespace modlock
