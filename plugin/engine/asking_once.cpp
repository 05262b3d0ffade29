#include "plugin/engine/asking_once.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/provider_registry/single_flight_map.h"
#include "plugin/resolve/source_fetcher.h"
#include "protocol/result.h"

namespace modlock {
namespace {

// An answer, and whom its asker was led to: another run may not be allowed to go there.
template <typename T>
struct Kept {
  Result<T> answer;
  std::vector<Source> led_to;
};

template <typename T>
using Answers = provider_registry::SingleFlightMap<std::string, std::shared_ptr<const Kept<T>>>;

// Whether another run could get another answer.
bool depends_on_the_run(const Error& error) {
  return error.code == Code::request_cancelled || error.code == Code::deadline_exceeded ||
         error.code == Code::source_denied;
}

template <typename T, typename Ask>
Result<T> ask_once(Answers<T>& answers, const std::string& question, const Context& context, const Ask& ask) {
  bool is_own = false;
  const auto kept = answers.get(question, context, [&]() -> Result<std::shared_ptr<const Kept<T>>> {
    is_own = true;
    std::mutex mutex;
    std::vector<Source> led_to;
    Context noting = context;
    noting.check_source = [&](const Source& source) -> Result<void> {
      {
        const std::lock_guard guard(mutex);
        led_to.push_back(source);
      }
      return context.check_source ? context.check_source(source) : Result<void>();
    };
    Result<T> answer = ask(noting);
    if (!answer && depends_on_the_run(answer.error())) {
      return fail(std::move(answer.error()));
    }
    return std::make_shared<const Kept<T>>(Kept<T>{std::move(answer), std::move(led_to)});
  });
  if (!kept) {
    // What the asker was denied says nothing of who waited for it.
    return is_own || kept.error().code != Code::source_denied ? fail(kept.error()) : ask(context);
  }
  if (!is_own && context.check_source) {
    for (const Source& source : (*kept)->led_to) {
      MODLOCK_TRY(context.check_source(source));
    }
  }
  Result<T> answer = (*kept)->answer;
  if constexpr (requires(T known) { known.is_again; }) {
    if (answer) {
      answer->is_again = !is_own;
    }
  }
  return answer;
}

class AskingOnceBackend final : public Backend {
 public:
  explicit AskingOnceBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  bool serves(const Source& source) const override { return inner_->serves(source); }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    return ask_once(listings_, question_of(source, tag_prefix), context,
                    [&](const Context& noting) { return inner_->list_versions(source, tag_prefix, noting); });
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    return ask_once(pins_, question_of(source, source.source.identity()), context,
                    [&](const Context& noting) { return inner_->pin(source, noting); });
  }

  bool knows_versions(const SourceAddress& source, std::string_view tag_prefix) const override {
    return listings_.has(question_of(source, tag_prefix));
  }
  bool knows_pin(const SourceAddress& source) const override {
    return pins_.has(question_of(source, source.source.identity()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    return inner_->fetch(source, requests, parent, context);
  }

  std::optional<CommitDistance> descent(const SourceAddress& source, const std::string& older, const std::string& newer,
                                        const Context& context) override {
    return inner_->descent(source, older, newer, context);
  }

  std::string id_hash(std::string_view id) const override { return inner_->id_hash(id); }
  std::string id_of(std::span<const std::string> hashes) const override { return inner_->id_of(hashes); }

 private:
  static std::string question_of(const SourceAddress& source, std::string_view what) {
    return SourceFetcher::package_key(source) + "\n" + std::string(what);
  }

  const std::unique_ptr<Backend> inner_;
  Answers<Listing> listings_;
  Answers<Pin> pins_;
};

class AskingOnceProviderSource final : public ProviderSource {
 public:
  explicit AskingOnceProviderSource(std::unique_ptr<ProviderSource> inner) : inner_(std::move(inner)) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    return ask_once(listings_, provider.to_string(), context,
                    [&](const Context& noting) { return inner_->list_versions(provider, noting); });
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    std::string question = provider.to_string() + " " + version.to_string();
    for (const Platform& platform : platforms) {
      question += " " + platform.to_string();
    }
    return ask_once(releases_, question, context,
                    [&](const Context& noting) { return inner_->release(provider, version, platforms, noting); });
  }

 private:
  const std::unique_ptr<ProviderSource> inner_;
  Answers<ProviderListing> listings_;
  Answers<ProviderRelease> releases_;
};

class SharedProviderSource final : public ProviderSource {
 public:
  explicit SharedProviderSource(std::shared_ptr<ProviderSource> inner) : inner_(std::move(inner)) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    return inner_->list_versions(provider, context);
  }
  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    return inner_->release(provider, version, platforms, context);
  }

 private:
  const std::shared_ptr<ProviderSource> inner_;
};

}  // namespace

std::unique_ptr<Backend> make_asking_once_backend(std::unique_ptr<Backend> inner) {
  return std::make_unique<AskingOnceBackend>(std::move(inner));
}

std::unique_ptr<ProviderSource> make_asking_once_provider_source(std::unique_ptr<ProviderSource> inner) {
  return std::make_unique<AskingOnceProviderSource>(std::move(inner));
}

std::unique_ptr<ProviderSource> make_shared_provider_source(std::shared_ptr<ProviderSource> inner) {
  return std::make_unique<SharedProviderSource>(std::move(inner));
}

}  // namespace modlock
