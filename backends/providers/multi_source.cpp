#include "backends/providers/multi_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "backends/providers/source_answers.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

// Adds what a source says of the platforms it was asked for.
void merge(ProviderRelease& whole, ProviderRelease part, bool is_first) {
  whole.published.insert(whole.published.end(), std::make_move_iterator(part.published.begin()),
                         std::make_move_iterator(part.published.end()));
  std::sort(whole.published.begin(), whole.published.end());
  whole.published.erase(std::unique(whole.published.begin(), whole.published.end()), whole.published.end());
  whole.packages.merge(part.packages);
  if (is_first || whole.signature.status == ProviderSignature::Status::none) {
    whole.signature = std::move(part.signature);
  }
  whole.covers_all_platforms = part.covers_all_platforms || (!is_first && whole.covers_all_platforms);
  whole.warnings.insert(whole.warnings.end(), std::make_move_iterator(part.warnings.begin()),
                        std::make_move_iterator(part.warnings.end()));
}

class MultiSource final : public ProviderSource {
 public:
  explicit MultiSource(std::vector<ProviderSelector> selectors) : selectors_(std::move(selectors)) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    ProviderListing whole;
    std::optional<Error> unknown;
    for (const ProviderSelector& selector : selectors_) {
      if (!selector.serves(provider)) {
        continue;
      }
      auto listing = selector.source->list_versions(provider, context);
      if (!listing && listing.error().code != Code::not_found) {
        return listing;
      }
      if (!listing) {
        unknown = unknown ? std::move(unknown) : std::move(listing.error());
        continue;
      }
      whole.versions.insert(whole.versions.end(), listing->versions.begin(), listing->versions.end());
      whole.warnings.insert(whole.warnings.end(), listing->warnings.begin(), listing->warnings.end());
    }
    if (whole.versions.empty()) {
      return unknown ? fail(std::move(*unknown)) : provider_not_found(provider);
    }
    order_newest_first(whole.versions);
    return whole;
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    std::vector<Platform> missing(platforms.begin(), platforms.end());
    ProviderRelease whole;
    for (const ProviderSelector& selector : selectors_) {
      if (missing.empty() || !selector.serves(provider)) {
        continue;
      }
      MODLOCK_TRY(take_from(*selector.source, provider, version, missing, whole, context));
    }
    return missing.empty() ? Result<ProviderRelease>(std::move(whole))
                           : not_available(provider, version, missing.front());
  }

 private:
  // All that are missing in one question; where the source does not have each of them, one after another.
  static Result<void> take_from(ProviderSource& source, const ProviderAddress& provider, const ProviderVersion& version,
                                std::vector<Platform>& missing, ProviderRelease& whole, const Context& context) {
    const auto take = [&](std::span<const Platform> platforms) -> Result<bool> {
      auto part = source.release(provider, version, platforms, context);
      if (part) {
        merge(whole, std::move(*part), whole.packages.empty());
        return true;
      }
      return part.error().code == Code::not_found ? Result<bool>(false) : fail(std::move(part.error()));
    };
    MODLOCK_TRY(auto all, take(missing));
    if (all) {
      missing.clear();
    }
    if (missing.size() < 2) {
      return {};
    }
    std::vector<Platform> left;
    for (const Platform& platform : missing) {
      MODLOCK_TRY(auto one, take({&platform, 1}));
      if (!one) {
        left.push_back(platform);
      }
    }
    missing = std::move(left);
    return {};
  }

  std::vector<ProviderSelector> selectors_;
};

}  // namespace

std::unique_ptr<ProviderSource> make_multi_source(std::vector<ProviderSelector> selectors) {
  return std::make_unique<MultiSource>(std::move(selectors));
}

}  // namespace modlock
