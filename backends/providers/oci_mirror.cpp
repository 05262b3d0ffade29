#include "backends/providers/oci_mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/base/single_flight_map.h"
#include "backends/oci/reference.h"
#include "backends/oci/registry.h"
#include "backends/providers/oci_provider_manifest.h"
#include "backends/providers/source_answers.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using oci::PlatformManifest;
using oci::Repository;

// Passes bytes on and hashes them.
class HashingSink final : public BodySink {
 public:
  explicit HashingSink(BodySink& sink) : sink_(sink) {}

  Result<void> begin(std::optional<std::uint64_t> length) override {
    sha256_ = Sha256();
    return sink_.begin(length);
  }
  Result<void> write(std::string_view bytes) override {
    sha256_.update(bytes);
    return sink_.write(bytes);
  }
  std::string digest() {
    const auto bytes = sha256_.finish();
    return "sha256:" + hex(bytes.data(), bytes.size());
  }

 private:
  BodySink& sink_;
  Sha256 sha256_;
};

class OciMirror final : public ProviderSource {
 public:
  OciMirror(std::function<Result<std::string>(const ProviderAddress&)> repository, HttpClient& http,
            Credentials& credentials, ProviderArchives& archives)
      : repository_(std::move(repository)), registry_(http, credentials), archives_(archives) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    return listings_.get(provider.to_string(), context, [&]() -> Result<ProviderListing> {
      MODLOCK_TRY(const auto repository, repository_of(provider));
      const auto tags = registry_.tags(repository, context);
      if (!tags) {
        return tags.error().code == Code::not_found ? provider_not_found(provider) : fail(tags.error());
      }
      ProviderListing listing;
      for (std::string tag : tags->names) {
        std::replace(tag.begin(), tag.end(), '_', '+');
        if (auto version = ProviderVersion::parse(tag)) {
          listing.versions.push_back(std::move(*version));
        }
      }
      order_newest_first(listing.versions);
      return listing;
    });
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    MODLOCK_TRY(const auto manifests, manifests_of(repository, version, context));
    ProviderRelease release{.covers_all_platforms = false};
    for (const Platform& platform : platforms) {
      const auto is_it = [&](const PlatformManifest& manifest) { return manifest.platform == platform; };
      const auto found = std::find_if(manifests.begin(), manifests.end(), is_it);
      if (found == manifests.end()) {
        return not_available(provider, version, platform);
      }
      if (std::count_if(manifests.begin(), manifests.end(), is_it) > 1) {
        return fail(Code::source_unsupported,
                    fmt::format("\"{}\" of \"{}\": ambiguous manifest has multiple descriptors for platform {}",
                                version.to_string(), repository.display, platform.to_string()),
                    "have the provider pushed again with one manifest for each platform");
      }
      MODLOCK_TRY(auto package,
                  fetch(repository, found->digest,
                        fmt::format("{} {} for {}", provider.to_string(), version.to_string(), platform.to_string()),
                        provider.type(), context));
      package.is_compared_by_zh = true;
      package.recorded = {package.h1, package.zh};
      release.packages.insert_or_assign(platform, std::move(package));
    }
    return release;
  }

 private:
  Result<Repository> repository_of(const ProviderAddress& provider) const {
    MODLOCK_TRY(const auto text, repository_(provider));
    return oci::parse_repository(text);
  }

  Result<std::vector<PlatformManifest>> manifests_of(const Repository& repository, const ProviderVersion& version,
                                                     const Context& context) {
    std::string tag = version.to_string();
    std::replace(tag.begin(), tag.end(), '+', '_');
    return indexes_.get(fmt::format("{} {}", repository.display, tag), context,
                        [&]() -> Result<std::vector<PlatformManifest>> {
                          auto index = registry_.manifest(repository, {.tag = tag, .digest = {}}, context);
                          if (!index) {
                            // Another source is not asked instead: the mirror is to have what it lists.
                            Error error = std::move(index.error());
                            error.code = error.code == Code::not_found ? Code::bad_response : error.code;
                            return fail(std::move(error));
                          }
                          return oci::read_provider_index(index->content_type, index->body,
                                                          fmt::format("\"{}\" of \"{}\"", tag, repository.display));
                        });
  }

  Result<ProviderPackage> fetch(const Repository& repository, const std::string& digest, std::string display,
                                const std::string& type, const Context& context) {
    const auto manifest = registry_.manifest(repository, {.tag = {}, .digest = digest}, context);
    if (!manifest) {
      return fail(not_as_listed(manifest.error()));
    }
    MODLOCK_TRY(const auto layer,
                oci::read_provider_manifest(manifest->content_type, manifest->body,
                                            fmt::format("\"{}\" of \"{}\"", digest, repository.display)));
    return archives_.hashes_of(
        {.display = std::move(display), .type = type, .zh = "zh:" + layer.digest.substr(layer.digest.find(':') + 1)},
        [&](BodySink& sink) -> Result<void> {
          HashingSink hashing(sink);
          auto received = registry_.blob(
              repository, layer, "the provider package", hashing,
              [&]() -> Result<std::string> { return hashing.digest(); }, context);
          return received ? Result<void>() : fail(not_as_listed(std::move(received.error())));
        },
        context);
  }

  const std::function<Result<std::string>(const ProviderAddress&)> repository_;
  oci::Registry registry_;
  ProviderArchives& archives_;
  SingleFlightMap<std::string, ProviderListing> listings_;
  SingleFlightMap<std::string, std::vector<PlatformManifest>> indexes_;
};

}  // namespace

std::unique_ptr<ProviderSource> make_oci_mirror(std::function<Result<std::string>(const ProviderAddress&)> repository,
                                                HttpClient& http, Credentials& credentials,
                                                ProviderArchives& archives) {
  return std::make_unique<OciMirror>(std::move(repository), http, credentials, archives);
}

}  // namespace modlock
