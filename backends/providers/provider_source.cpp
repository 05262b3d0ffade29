#include "backends/providers/provider_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "backends/base/collections.h"
#include "backends/memo.h"
#include "backends/store/first_seen.h"

namespace modlock {
namespace {

class SharedProviderSource final : public ProviderSource {
 public:
  SharedProviderSource(std::shared_ptr<ProviderSource> inner, const KnownSecrets& secrets, ReleaseDates dates)
      : inner_(std::move(inner)), secrets_(secrets), dates_(std::move(dates)) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    return listings_.get(provider.to_string(), context, [&](const Context& given) {
      auto listing =
          scrubbed<ProviderListing>(given, [&](const Context& call) { return inner_->list_versions(provider, call); });
      for (std::size_t i = 0; listing && i < listing->warnings.size(); ++i) {
        listing->warnings[i] = secrets_.all().scrub(listing->warnings[i]);
      }
      if (listing) {
        date(provider, *listing, given);
      }
      return listing;
    });
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    std::string question = provider.to_string() + " " + version.to_string();
    for (const Platform& platform : platforms) {
      question += " " + platform.to_string();
    }
    return releases_.get(question, context, [&](const Context& given) {
      auto release = scrubbed<ProviderRelease>(
          given, [&](const Context& call) { return inner_->release(provider, version, platforms, call); });
      for (std::size_t i = 0; release && i < release->warnings.size(); ++i) {
        secrets_.all().scrub(release->warnings[i].what);
      }
      return release;
    });
  }

  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override {
    return scrubbed<void>(
        context, [&](const Context& call) { return inner_->download(provider, version, platform, sink, call); });
  }

 private:
  void date(const ProviderAddress& provider, ProviderListing& listing, const Context& context) const {
    const std::vector<std::string> names = mapped(listing.versions, &ProviderVersion::to_string);
    const auto seen = mapped(names, [](const std::string& name) { return Observation{name}; });
    listing.known_since =
        FirstSeen(dates_.store)
            .note("provider " + provider.to_string(), seen, std::chrono::system_clock::now(), context);
    const bool is_trusted =
        std::find(dates_.trusted.begin(), dates_.trusted.end(), provider.host()) != dates_.trusted.end();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (const auto date = listing.published.find(names[i]); date != listing.published.end()) {
        listing.known_since[i] = is_trusted ? date->second : std::max(date->second, listing.known_since[i]);
      }
    }
  }

  template <typename Answer, typename Ask>
  Result<Answer> scrubbed(Context context, const Ask& ask) const {
    ScrubbingLog log(*context.log, secrets_);
    context.log = &log;
    Result<Answer> answer = ask(context);
    if (!answer) {
      secrets_.all().scrub(answer.error());
    }
    return answer;
  }

  const std::shared_ptr<ProviderSource> inner_;
  const KnownSecrets& secrets_;
  const ReleaseDates dates_;
  Memo<ProviderListing> listings_;
  Memo<ProviderRelease> releases_;
};

// Adds a source's data about the requested platforms.
void merge(ProviderRelease& whole, ProviderRelease part, bool is_first) {
  std::ranges::move(part.published, std::back_inserter(whole.published));
  sort_unique(whole.published);
  whole.packages.merge(part.packages);
  if (is_first || whole.signature.status == ProviderSignature::Status::none) {
    whole.signature = std::move(part.signature);
  }
  whole.covers_all_platforms = part.covers_all_platforms || (!is_first && whole.covers_all_platforms);
  append(whole.warnings, std::move(part.warnings));
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
      whole.published.merge(listing->published);
    }
    if (whole.versions.empty()) {
      return unknown ? fail(std::move(*unknown)) : provider_not_found(provider);
    }
    // The package may come from a source other than the one that gives a date.
    std::map<std::string, int> sources;
    for (const ProviderVersion& version : whole.versions) {
      ++sources[version.to_string()];
    }
    std::erase_if(whole.published, [&](const auto& dated) { return sources[dated.first] > 1; });
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

  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override {
    for (const ProviderSelector& selector : selectors_) {
      if (!selector.serves(provider)) {
        continue;
      }
      auto done = selector.source->download(provider, version, platform, sink, context);
      if (done || done.error().code != Code::not_found) {
        return done;
      }
    }
    return not_available(provider, version, platform);
  }

 private:
  // Requests all missing platforms at once, or one by one if the source does not have all of them.
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

void order_newest_first(std::vector<ProviderVersion>& versions) {
  std::sort(versions.begin(), versions.end(), [](const ProviderVersion& left, const ProviderVersion& right) {
    const int order = compare(left, right);
    return order != 0 ? order > 0 : compare_extra(left.metadata, right.metadata) > 0;
  });
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
}

std::string package_display(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform) {
  return fmt::format("{} {} for {}", provider.to_string(), version.to_string(), platform.to_string());
}

tl::unexpected<Error> provider_not_found(const ProviderAddress& provider) {
  return fail(Code::not_found,
              fmt::format("provider {} was not found in any of the search locations", provider.to_string()),
              "check the spelling of its source, and provider_installation of the CLI configuration");
}

tl::unexpected<Error> not_available(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform) {
  return fail(Code::not_found,
              fmt::format("provider {} {} is not available for {}", provider.to_string(), version.to_string(),
                          platform.to_string()),
              "choose another version, or omit the platform");
}

Error not_as_listed(Error error) {
  error.code = error.code == Code::not_found ? Code::bad_response : error.code;
  return error;
}

std::shared_ptr<ProviderSource> make_shared_provider_source(std::shared_ptr<ProviderSource> inner,
                                                            const KnownSecrets& secrets, const ReleaseDates& dates) {
  return std::make_shared<SharedProviderSource>(std::move(inner), secrets, dates);
}

std::unique_ptr<ProviderSource> make_multi_source(std::vector<ProviderSelector> selectors) {
  return std::make_unique<MultiSource>(std::move(selectors));
}

}  // namespace modlock
