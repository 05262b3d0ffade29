#include "backends/providers/provider_mirrors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/single_flight_map.h"
#include "backends/oci/reference.h"
#include "backends/oci/registry.h"
#include "protocol/base/json.h"

namespace modlock::oci {
namespace {

constexpr std::string_view kImageIndex = "application/vnd.oci.image.index.v1+json";
constexpr std::string_view kImageManifest = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kProvider = "application/vnd.opentofu.provider";
constexpr std::string_view kProviderTarget = "application/vnd.opentofu.provider-target";
constexpr std::string_view kZip = "archive/zip";
constexpr std::size_t kShown = 100;  // bytes of a text

tl::unexpected<Error> no_provider(std::string_view what, std::string_view why) {
  return fail(Code::source_unsupported, fmt::format("{} is not an OpenTofu provider: {}", what, why),
              "push it as OpenTofu expects providers in OCI registries: an index manifest of the artifact type "
              "\"application/vnd.opentofu.provider\" with one image manifest for each platform");
}

tl::unexpected<Error> broken(std::string_view what, std::string_view why, Code code = Code::bad_response) {
  return fail(code, fmt::format("the manifest {} is damaged: {}", what, why), "push the provider again");
}

// Returns the string member; empty if there is none of that type.
std::string text_of(const Json::Value& object, const char* name) {
  return string_member(object, name).value_or("");
}

Result<Json::Value> read_manifest_of(std::string_view media_type, std::string_view content_type, std::string_view body,
                                     std::string_view what) {
  const bool is_index = media_type == kImageIndex;
  if (const std::string served = http::media_type(content_type); served != media_type) {
    if (served == kImageManifest) {
      return no_provider(what,
                         "selected an OCI image manifest directly, but providers must be selected through a "
                         "multi-platform index manifest");
    }
    return no_provider(what, fmt::format("unsupported media type \"{}\" for OCI {} manifest", quotable(served, kShown),
                                         is_index ? "index" : "image"));
  }
  auto manifest = parse_json_body(body);
  if (!manifest) {
    return broken(what, manifest.error().message, manifest.error().code);
  }
  if (!manifest->isObject()) {
    return broken(what, "it is not a JSON object");
  }
  if (const std::string type = text_of(*manifest, "mediaType"); type != media_type) {
    return no_provider(what, fmt::format("unexpected manifest media type \"{}\"", quotable(type, kShown)));
  }
  const std::string artifact = text_of(*manifest, "artifactType");
  if (is_index && artifact == "application/vnd.opentofu.modulepkg") {
    return no_provider(what, "selected OCI artifact is an OpenTofu module package, not a provider package");
  }
  if (artifact != (is_index ? kProvider : kProviderTarget)) {
    return no_provider(what, fmt::format("unexpected artifact type \"{}\"", quotable(artifact, kShown)));
  }
  return std::move(*manifest);
}

Result<std::string> digest_of(const Json::Value& descriptor, std::string_view what) {
  const std::string digest = text_of(descriptor, "digest");
  switch (digest_form(digest)) {
    case DigestForm::supported:
      return digest;
    case DigestForm::other_algorithm:
      return unsupported_digest(fmt::format("provider package of {}", what), digest);
    case DigestForm::invalid:
      break;
  }
  return broken(what, fmt::format("it lists the invalid digest \"{}\"", quotable(digest, kShown)));
}

}  // namespace

Result<std::vector<PlatformManifest>> read_provider_index(std::string_view content_type, std::string_view body,
                                                          std::string_view what) {
  MODLOCK_TRY(const auto index, read_manifest_of(kImageIndex, content_type, body, what));
  const Json::Value& listed = index["manifests"];
  if (!listed.isNull() && !listed.isArray()) {
    return broken(what, "its \"manifests\" is not an array");
  }
  std::vector<PlatformManifest> manifests;
  std::string other_type;
  bool has_target = false;
  for (const Json::Value& descriptor : listed) {
    if (const std::string artifact = text_of(descriptor, "artifactType"); artifact != kProviderTarget) {
      other_type = artifact.empty() ? other_type : artifact;
      continue;
    }
    has_target = true;
    if (const std::string type = text_of(descriptor, "mediaType"); type != kImageManifest) {
      return no_provider(
          what, fmt::format("provider image manifest has unsupported media type \"{}\"", quotable(type, kShown)));
    }
    const Json::Value& platform = descriptor["platform"];
    if (!platform.isObject()) {
      return no_provider(what, "provider image manifest lacks the required platform constraints");
    }
    if (!text_of(platform, "os.version").empty()) {
      continue;
    }
    MODLOCK_TRY(auto digest, digest_of(descriptor, what));
    manifests.push_back({{text_of(platform, "os"), text_of(platform, "architecture")}, std::move(digest)});
  }
  if (has_target) {
    return manifests;
  }
  return no_provider(what, other_type.empty()
                               ? "provider image manifest has unsupported artifact type; is this a container image, "
                                 "rather than an OpenTofu provider?"
                               : fmt::format("provider image manifest has unsupported artifact type \"{}\"",
                                             quotable(other_type, kShown)));
}

Result<Layer> read_provider_manifest(std::string_view content_type, std::string_view body, std::string_view what) {
  MODLOCK_TRY(const auto manifest, read_manifest_of(kImageManifest, content_type, body, what));
  const Json::Value& layers = manifest["layers"];
  if (!layers.isNull() && !layers.isArray()) {
    return broken(what, "its \"layers\" is not an array");
  }
  const Json::Value* package = nullptr;
  for (const Json::Value& layer : layers) {
    if (text_of(layer, "mediaType") != kZip) {
      continue;
    }
    if (package != nullptr) {
      return no_provider(what, "ambiguous manifest declares multiple eligible provider packages");
    }
    package = &layer;
  }
  if (package == nullptr) {
    return no_provider(what, fmt::format("image manifest contains no layers of type \"{}\"{}", kZip,
                                         layers.empty() ? ""
                                                        : ", but has other unsupported formats; this OCI artifact "
                                                          "might be intended for a different version of OpenTofu"));
  }
  MODLOCK_TRY(auto digest, digest_of(*package, what));
  if (digest_algorithm(digest) != Hash::sha256) {
    return no_provider(what, "unsupported digest algorithm \"sha512\" of the provider package");
  }
  if (!(*package)["size"].isUInt64()) {
    return broken(what, "the size of its package is not a number of bytes");
  }
  return Layer{std::move(digest), (*package)["size"].asUInt64()};
}

}  // namespace modlock::oci

namespace modlock {
namespace {

using oci::PlatformManifest;
using oci::Repository;

class OciMirror final : public ProviderSource {
 public:
  OciMirror(std::function<Result<std::string>(const ProviderAddress&)> repository, HttpClient& http,
            Credentials& credentials, ProviderArchives& archives, std::vector<std::string> token_realms)
      : repository_(std::move(repository)),
        registry_(http, credentials, std::move(token_realms)),
        archives_(archives) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
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
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    MODLOCK_TRY(const auto manifests, manifests_of(repository, version, context));
    ProviderRelease release{.covers_all_platforms = false};
    for (const Platform& platform : platforms) {
      MODLOCK_TRY(const auto layer, find_layer(repository, manifests, provider, version, platform, context));
      MODLOCK_TRY(auto package,
                  fetch(repository, layer, package_display(provider, version, platform), provider.type(), context));
      package.is_compared_by_zh = true;
      package.recorded = {package.h1, package.zh};
      release.packages.insert_or_assign(platform, std::move(package));
    }
    return release;
  }

  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    MODLOCK_TRY(const auto manifests, manifests_of(repository, version, context));
    MODLOCK_TRY(const auto layer, find_layer(repository, manifests, provider, version, platform, context));
    return receive(repository, layer, sink, context);
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
    return indexes_.get(
        fmt::format("{} {}", repository.display, tag), context, [&]() -> Result<std::vector<PlatformManifest>> {
          // Not NOT_FOUND, so that no other source is tried: the mirror must have what it lists.
          MODLOCK_TRY(const auto index,
                      registry_.manifest(repository, {.tag = tag, .digest = {}}, context).map_error(not_as_listed));
          return oci::read_provider_index(index.content_type, index.body,
                                          fmt::format("\"{}\" of \"{}\"", tag, repository.display));
        });
  }

  Result<oci::Layer> find_layer(const Repository& repository, const std::vector<PlatformManifest>& manifests,
                                const ProviderAddress& provider, const ProviderVersion& version,
                                const Platform& platform, const Context& context) {
    const auto is_it = [&](const PlatformManifest& manifest) { return manifest.platform == platform; };
    const auto found = std::find_if(manifests.begin(), manifests.end(), is_it);
    if (found == manifests.end()) {
      return not_available(provider, version, platform);
    }
    if (std::count_if(manifests.begin(), manifests.end(), is_it) > 1) {
      return fail(Code::source_unsupported,
                  fmt::format("\"{}\" of \"{}\": ambiguous manifest has multiple descriptors for platform {}",
                              version.to_string(), repository.display, platform.to_string()),
                  "push the provider again with one manifest for each platform");
    }
    MODLOCK_TRY(const auto manifest,
                registry_.manifest(repository, {.tag = {}, .digest = found->digest}, context).map_error(not_as_listed));
    return oci::read_provider_manifest(manifest.content_type, manifest.body,
                                       fmt::format("\"{}\" of \"{}\"", found->digest, repository.display));
  }

  Result<void> receive(const Repository& repository, const oci::Layer& layer, BodySink& sink, const Context& context) {
    return registry_.blob(repository, layer, "the provider package", sink, context).map_error(not_as_listed);
  }

  Result<ProviderPackage> fetch(const Repository& repository, const oci::Layer& layer, std::string display,
                                const std::string& type, const Context& context) {
    return archives_.hashes_of(
        {.display = std::move(display), .type = type, .zh = "zh:" + layer.digest.substr(layer.digest.find(':') + 1)},
        [&](BodySink& sink) { return receive(repository, layer, sink, context); }, context);
  }

  const std::function<Result<std::string>(const ProviderAddress&)> repository_;
  oci::Registry registry_;
  ProviderArchives& archives_;
  SingleFlightMap<std::string, std::vector<PlatformManifest>> indexes_;
};

}  // namespace

std::unique_ptr<ProviderSource> make_oci_mirror(std::function<Result<std::string>(const ProviderAddress&)> repository,
                                                HttpClient& http, Credentials& credentials, ProviderArchives& archives,
                                                std::vector<std::string> token_realms) {
  return std::make_unique<OciMirror>(std::move(repository), http, credentials, archives, std::move(token_realms));
}

}  // namespace modlock
