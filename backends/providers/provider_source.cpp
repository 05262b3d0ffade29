#include "backends/providers/provider_source.h"

#include <utility>

#include "backends/memo.h"

namespace modlock {
namespace {

class SharedProviderSource final : public ProviderSource {
 public:
  SharedProviderSource(std::shared_ptr<ProviderSource> inner, const KnownSecrets& secrets, bool memoizes)
      : inner_(std::move(inner)), secrets_(secrets), memoizes_(memoizes) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    const auto list = [&](const Context& given) {
      auto listing =
          scrubbed<ProviderListing>(given, [&](const Context& call) { return inner_->list_versions(provider, call); });
      for (std::size_t i = 0; listing && i < listing->warnings.size(); ++i) {
        listing->warnings[i] = secrets_.all().scrub(listing->warnings[i]);
      }
      return listing;
    };
    return memoizes_ ? listings_.get(provider.to_string(), context, list) : list(context);
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    const auto find = [&](const Context& given) {
      auto release = scrubbed<ProviderRelease>(
          given, [&](const Context& call) { return inner_->release(provider, version, platforms, call); });
      for (std::size_t i = 0; release && i < release->warnings.size(); ++i) {
        secrets_.all().scrub(release->warnings[i].what);
      }
      return release;
    };
    std::string question = provider.to_string() + " " + version.to_string();
    for (const Platform& platform : platforms) {
      question += " " + platform.to_string();
    }
    return memoizes_ ? releases_.get(question, context, find) : find(context);
  }

 private:
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
  const bool memoizes_;
  Memo<ProviderListing> listings_;
  Memo<ProviderRelease> releases_;
};

}  // namespace

std::shared_ptr<ProviderSource> make_shared_provider_source(std::shared_ptr<ProviderSource> inner,
                                                            const KnownSecrets& secrets, bool memoizes) {
  return std::make_shared<SharedProviderSource>(std::move(inner), secrets, memoizes);
}

}  // namespace modlock
