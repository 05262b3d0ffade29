#pragma once

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

// Asks the outside for one run: what has been answered once is not asked again, and what can be asked together is asked
// in parallel. What it is answered is noted in the store, with the time at which it was first seen. Use from one
// thread.
class SourceFetcher {
 public:
  using Time = FirstSeen::Time;

  // What a source gave to whomever at `fresh_since` or later, without having been asked for an id, is not fetched
  // again: many that ask at once cause one fetch. Unset: it is.
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
  // All that one package source is asked for together.
  struct FetchTask {
    std::vector<ListingRequest> listings = {};
    std::vector<const SourceAddress*> pins = {};
    // Called once, on any thread, when all of these are known, the failed ones too: the packages to bring.
    std::function<std::vector<PackageRequest>()> choose = {};
  };

  Backend* backend(const Source& source) const { return backends_.find(source); }
  // The package of a request with an id, where the store has it.
  std::optional<Package> stored(const Source& source, const FetchRequest& request) const;
  // The package that a request brought has the content that is locked for its id, although it came with another one (an
  // archive that was packed again): the store finds it by the requested id too from now on.
  void remember(const Source& source, const FetchRequest& request, const Package& package) const;

  // What addresses must share to be asked as one: a key for the package source.
  static std::string package_key(const SourceAddress& address);
  // Runs fetch tasks, each of another package source, side by side, none waiting for another: asks what is not known
  // yet, lets choose, and brings the packages into the store; those it has cost nothing, the others one fetch. A
  // backend must serve every source.
  void run(std::span<const FetchTask> tasks);

  // What a fetch task asked for. Its own may be read as soon as it chooses.
  const Result<Listing>& listing(const SourceAddress& source, std::string_view tag_prefix) const;
  // When each version of a listing was first seen, in their order; none where the listing failed.
  const std::vector<Time>& known_since(const SourceAddress& source, std::string_view tag_prefix) const;
  const Result<Pin>& pinned(const Source& source) const;
  // The listing without a tag prefix, where this run asked for it and got it; else null.
  const Listing* known_listing(const SourceAddress& source) const;

  // One moment for the whole run.
  Time now() const { return now_; }
  // Notes that a source gives an id by a reference; returns when that was first seen. Where a listing told the
  // reference without its id, it is the reference that counts.
  Time note(const Source& source, const std::string& ref, const std::string& id) const;
  // When that was noted by this reference; nullopt: never.
  std::optional<Time> first_seen_as(const Source& source, const std::string& ref, const std::string& id) const;
  // Returns another id that was noted under this reference, the last one; empty if there is none.
  std::string other_id(const Source& source, const std::string& ref, const std::string& id) const;
  // The same, else by any other reference.
  std::optional<Time> first_seen(const Source& source, const std::string& ref, const std::string& id) const;

  // What a fetch task brought.
  const Result<Package>& package(const SourceAddress& source, const FetchRequest& request) const;

 private:
  using Key = std::pair<std::string, std::string>;
  struct Missing {
    const PackageRequest* request = nullptr;
    Result<Package>* package = nullptr;
    bool is_damaged = false;  // what the store had of it
  };
  using Work = std::vector<std::function<void()>>;  // may be done in any order, or side by side
  struct State;
  void run_at_once(const FetchTask& task, State& state, Work& work);
  void ask(const FetchTask& task, State& state, Work& work);
  Work questions_of(const FetchTask& task);
  bool knows_answers(const FetchTask& task) const;
  std::vector<Missing> take_stored(std::span<const PackageRequest> requests);
  void fetch_missing(std::vector<Missing> missing);
  Result<Package>* add_package(const PackageRequest& request);
  static std::string question_of(const PackageRequest& request);
  // Answers from the store, if it can.
  bool take_stored(Missing& wanted) const;
  static void warn_damaged_package(const Missing& wanted);
  void fetch(std::span<const Missing> missing);

  const BackendSet& backends_;
  const Store& store_;
  const Context& context_;
  std::optional<std::filesystem::file_time_type> fresh_since_;
  Time now_;
  struct Listed {
    Result<Listing> listing;
    std::vector<Time> known_since;
  };
  std::map<Key, Listed> listings_;           // package, tag prefix
  std::map<std::string, Result<Pin>> pins_;  // identity
  std::mutex mutex_;                         // of packages_, which fetch tasks add to while others run
  std::map<Key, Result<Package>> packages_;  // package, id and (where that may say more) reference
};

}  // namespace modlock
