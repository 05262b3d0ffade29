#include "backends/providers/oci_provider_manifest.h"

#include <fmt/format.h>

#include "backends/address/source_text.h"
#include "backends/http/text.h"
#include "backends/oci/reference.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock::oci {
namespace {

constexpr std::string_view kImageIndex = "application/vnd.oci.image.index.v1+json";
constexpr std::string_view kImageManifest = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kProvider = "application/vnd.opentofu.provider";
constexpr std::string_view kProviderTarget = "application/vnd.opentofu.provider-target";
constexpr std::string_view kZip = "archive/zip";

tl::unexpected<Error> no_provider(std::string_view what, std::string_view why) {
  return fail(Code::source_unsupported, fmt::format("{} is not an OpenTofu provider: {}", what, why),
              "push it as OpenTofu expects providers in OCI registries: an index manifest of the artifact type "
              "\"application/vnd.opentofu.provider\" with one image manifest for each platform");
}

tl::unexpected<Error> broken(std::string_view what, std::string_view why) {
  return fail(Code::bad_response, fmt::format("the manifest {} is damaged: {}", what, why),
              "have the provider pushed again");
}

std::string shown(std::string_view text) {
  return escape_controls(http::cut_text(std::string(text), 100));
}

// The string member; empty where there is none of that type.
std::string text_of(const Json::Value& object, const char* name) {
  return object.isObject() && object[name].isString() ? object[name].asString() : std::string();
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
    return no_provider(what, fmt::format("unsupported media type \"{}\" for OCI {} manifest", shown(served),
                                         is_index ? "index" : "image"));
  }
  auto manifest = parse_json(body);
  if (!manifest || !manifest->isObject()) {
    return broken(what, manifest ? "it is not a JSON object" : manifest.error().message);
  }
  if (const std::string type = text_of(*manifest, "mediaType"); type != media_type) {
    return no_provider(what, fmt::format("unexpected manifest media type \"{}\"", shown(type)));
  }
  const std::string artifact = text_of(*manifest, "artifactType");
  if (is_index && artifact == "application/vnd.opentofu.modulepkg") {
    return no_provider(what, "selected OCI artifact is an OpenTofu module package, not a provider package");
  }
  if (artifact != (is_index ? kProvider : kProviderTarget)) {
    return no_provider(what, fmt::format("unexpected artifact type \"{}\"", shown(artifact)));
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
  return broken(what, fmt::format("it lists the invalid digest \"{}\"", shown(digest)));
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
      return no_provider(what, fmt::format("provider image manifest has unsupported media type \"{}\"", shown(type)));
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
  return no_provider(
      what, other_type.empty()
                ? "provider image manifest has unsupported artifact type; is this a container image, "
                  "rather than an OpenTofu provider?"
                : fmt::format("provider image manifest has unsupported artifact type \"{}\"", shown(other_type)));
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
