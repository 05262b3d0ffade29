#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/backend_set.h"
#include "backends/store/store.h"

namespace modlock {

// Asks the outside for one run: what has been answered once is not asked again, and what can be asked together is asked
// in parallel. Use from one thread.
class Origin {
 public:
  Origin(const BackendSet& backends, const Store& store, const Context& context)
      : backends_(backends), store_(store), context_(context) {}

  struct ListingWish {
    const SourceAddress* source = nullptr;
    std::string tag_prefix;
  };
  struct PackageWish {
    const SourceAddress* source = nullptr;
    FetchWish wish;
  };

  Backend* backend(const Source& source) const { return backends_.find(source); }
  // The package of a wish with an id, where the store has it.
  std::optional<Package> stored(const Source& source, const FetchWish& wish) const;
  // The package that a wish brought has the content that is locked for its id, although it came with another one (an
  // archive that was packed again): the store finds it by the wished id too from now on.
  void remember(const Source& source, const FetchWish& wish, const Package& package) const;

  // Lists and pins everything named that is not known yet. A backend must serve every source.
  void ask(std::span<const ListingWish> listings, std::span<const SourceAddress* const> pins);
  // What ask() brought. It must have been asked for.
  const Result<Listing>& listing(const SourceAddress& source, std::string_view tag_prefix) const;
  const Result<Pin>& pinned(const Source& source) const;
  // The listing without a tag prefix, where this run asked for it and got it; else null.
  const Listing* known_listing(const SourceAddress& source) const;

  // Brings packages into the store: those it has cost nothing, the others one fetch per package source.
  void fetch(std::span<const PackageWish> wishes);
  // What fetch() brought. It must have been asked for.
  const Result<Package>& package(const SourceAddress& source, const FetchWish& wish) const;

 private:
  using Key = std::pair<std::string, std::string>;
  void fetch_missing(const std::map<std::string, std::vector<const PackageWish*>>& by_source);

  const BackendSet& backends_;
  const Store& store_;
  const Context& context_;
  std::map<Key, Result<Listing>> listings_;  // package, tag prefix
  std::map<std::string, Result<Pin>> pins_;  // identity
  std::map<Key, Result<Package>> packages_;  // package, id and (where that may say more) reference
};

}  // namespace modlock
