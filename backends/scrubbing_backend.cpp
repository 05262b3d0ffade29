#include "backends/scrubbing_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace modlock {
namespace {

void scrub(Listing& listing, const Secrets& secrets) {
  for (SkippedTag& skipped : listing.skipped) {
    skipped = {secrets.scrub(skipped.tag), secrets.scrub(skipped.reason)};
  }
  std::erase_if(listing.versions, [&](ListedVersion& version) {
    const bool is_secret = secrets.are_in(version.tag);
    if (is_secret) {
      listing.skipped.push_back({secrets.scrub(version.tag), "it holds a secret that the server was sent"});
    } else {
      version.ambiguous_with = secrets.scrub(version.ambiguous_with);
    }
    return is_secret;
  });
}

class ScrubbingBackend final : public Backend {
 public:
  ScrubbingBackend(std::unique_ptr<Backend> inner, KnownSecrets& secrets)
      : inner_(std::move(inner)), secrets_(secrets) {}

  bool serves(const Source& source) const override { return inner_->serves(source); }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    const Scrubbed call(source, context, secrets_);
    auto listing = inner_->list_versions(source, tag_prefix, call.context);
    listing ? scrub(*listing, secrets_.all()) : secrets_.all().scrub(listing.error());
    return listing;
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    const Scrubbed call(source, context, secrets_);
    auto pin = inner_->pin(source, call.context);
    if (!pin) {
      secrets_.all().scrub(pin.error());
    }
    return pin;
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    const Scrubbed call(source, context, secrets_);
    auto trees = inner_->fetch(source, requests, parent, call.context);
    const Secrets secrets = secrets_.all();
    for (Result<FetchedTree>& tree : trees) {
      if (tree && secrets.are_in(tree->subdir)) {
        tree = fail(Code::bad_response,
                    fmt::format("\"{}\" is said to lie in a directory whose name holds a secret that the server was "
                                "sent",
                                source.source.package_identity()),
                    "do not trust that server; renew the secret");
      }
      if (!tree) {
        secrets.scrub(tree.error());
        continue;
      }
      for (Diagnostic& warning : tree->warnings) {
        secrets.scrub(warning.what);
      }
    }
    return trees;
  }

  std::optional<CommitDistance> descent(const SourceAddress& source, const std::string& older, const std::string& newer,
                                        const Context& context) override {
    const Scrubbed call(source, context, secrets_);
    return inner_->descent(source, older, newer, call.context);
  }

  std::string id_hash(std::string_view id) const override { return inner_->id_hash(id); }
  std::string id_of(std::span<const std::string> hashes) const override { return inner_->id_of(hashes); }

 private:
  // The context of one call.
  struct Scrubbed {
    Scrubbed(const SourceAddress& source, const Context& given, KnownSecrets& secrets)
        : log(*given.log, secrets), context(given) {
      context.log = &log;
      for (const std::string& secret : secrets_of(source)) {
        secrets.add(secret);
      }
    }

    ScrubbingLog log;
    Context context;
  };

  const std::unique_ptr<Backend> inner_;
  KnownSecrets& secrets_;
};

}  // namespace

std::unique_ptr<Backend> make_scrubbing_backend(std::unique_ptr<Backend> inner, KnownSecrets& secrets) {
  return std::make_unique<ScrubbingBackend>(std::move(inner), secrets);
}

}  // namespace modlock
