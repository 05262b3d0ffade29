#include "backends/scrubbing_provider_source.h"

#include <utility>

namespace modlock {
namespace {

class ScrubbingProviderSource final : public ProviderSource {
 public:
  ScrubbingProviderSource(std::unique_ptr<ProviderSource> inner, const KnownSecrets& secrets)
      : inner_(std::move(inner)), secrets_(secrets) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    ScrubbingLog log(*context.log, secrets_);
    auto listing = inner_->list_versions(provider, with_log(context, log));
    const Secrets secrets = secrets_.all();
    if (!listing) {
      secrets.scrub(listing.error());
      return listing;
    }
    for (std::string& warning : listing->warnings) {
      warning = secrets.scrub(warning);
    }
    return listing;
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    ScrubbingLog log(*context.log, secrets_);
    auto release = inner_->release(provider, version, platforms, with_log(context, log));
    const Secrets secrets = secrets_.all();
    if (!release) {
      secrets.scrub(release.error());
      return release;
    }
    for (Diagnostic& warning : release->warnings) {
      secrets.scrub(warning.what);
    }
    return release;
  }

 private:
  static Context with_log(Context context, Log& log) {
    context.log = &log;
    return context;
  }

  const std::unique_ptr<ProviderSource> inner_;
  const KnownSecrets& secrets_;
};

}  // namespace

std::unique_ptr<ProviderSource> make_scrubbing_provider_source(std::unique_ptr<ProviderSource> inner,
                                                               const KnownSecrets& secrets) {
  return std::make_unique<ScrubbingProviderSource>(std::move(inner), secrets);
}

}  // namespace modlock
