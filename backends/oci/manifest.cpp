#include "backends/oci/manifest.h"

#include <fmt/format.h>

#include "backends/address/source_text.h"
#include "backends/backend.h"
#include "backends/http/http_client.h"
#include "backends/oci/reference.h"
#include "backends/package/unpack.h"
#include "protocol/base/json.h"

namespace modlock::oci {
namespace {

constexpr std::string_view kImageManifest = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kModulePackage = "application/vnd.opentofu.modulepkg";
constexpr std::string_view kZip = "archive/zip";
constexpr std::size_t kShown = 100;  // bytes of a text

tl::unexpected<Error> no_package(std::string_view what, std::string_view why) {
  return fail(Code::source_unsupported, fmt::format("{} is not an OpenTofu module package: {}", what, why),
              "name an artifact that was pushed as a module package: an OCI image manifest with the artifact type "
              "\"application/vnd.opentofu.modulepkg\" and one layer \"archive/zip\"");
}

tl::unexpected<Error> broken(std::string_view what, std::string_view why, Code code = Code::bad_response) {
  return fail(code, fmt::format("the manifest {} is damaged: {}", what, why), "have the module package pushed again");
}

// Returns the string member; empty if it is absent.
Result<std::string> text_of(const Json::Value& object, const char* name, std::string_view what) {
  const Json::Value& value = object[name];
  if (value.isNull()) {
    return std::string();
  }
  return value.isString() ? Result<std::string>(value.asString())
                          : broken(what, fmt::format("its \"{}\" is not a string", name));
}

Result<Layer> read_layer(const Json::Value& descriptor, std::string_view what) {
  MODLOCK_TRY(const auto digest, text_of(descriptor, "digest", what));
  MODLOCK_TRY(
      check_digest(digest, fmt::format("module package of {}", what),
                   broken(what, fmt::format("the digest of its package is \"{}\"", quotable(digest, kShown))).value()));
  const Json::Value& size = descriptor["size"];
  if (!size.isUInt64()) {
    return broken(what, "the size of its package is not a number of bytes");
  }
  const std::uint64_t limit = UnpackLimits().total_bytes;
  if (size.asUInt64() > limit) {
    return fail(Code::limit_exceeded,
                fmt::format("the module package of {} has {} bytes; the limit is {}", what, size.asUInt64(), limit),
                "have the package split");
  }
  return Layer{digest, size.asUInt64()};
}

Result<Layer> select_layer(const Json::Value& layers, std::string_view what) {
  if (!layers.isNull() && !layers.isArray()) {
    return broken(what, "its \"layers\" is not an array");
  }
  const Json::Value* package = nullptr;
  for (const Json::Value& layer : layers) {
    if (!layer.isObject()) {
      return broken(what, "one of its layers is not an object");
    }
    MODLOCK_TRY(const auto type, text_of(layer, "mediaType", what));
    if (type != kZip) {
      continue;
    }
    if (package != nullptr) {
      return no_package(what, fmt::format("multiple layers with media type \"{}\"", kZip));
    }
    package = &layer;
  }
  if (package != nullptr) {
    return read_layer(*package, what);
  }
  return no_package(what, layers.empty() ? "image manifest contains no layers of types supported as module packages"
                                         : "image manifest contains no layers of types supported as module packages, "
                                           "but has other unsupported formats");
}

}  // namespace

Result<Layer> read_manifest(std::string_view content_type, std::string_view body, std::string_view what) {
  const std::string served = http::media_type(content_type);
  if (served != kImageManifest) {
    return no_package(what,
                      fmt::format("selected object is not an OCI image manifest but \"{}\"", quotable(served, kShown)));
  }
  const auto json = parse_json_body(body);
  if (!json) {
    return broken(what, json.error().message, json.error().code);
  }
  if (!json->isObject()) {
    return broken(what, "it is not a JSON object");
  }
  MODLOCK_TRY(const auto type, text_of(*json, "mediaType", what));
  if (type != kImageManifest) {
    return no_package(what, fmt::format("unexpected manifest media type \"{}\"", quotable(type, kShown)));
  }
  MODLOCK_TRY(const auto artifact, text_of(*json, "artifactType", what));
  if (artifact != kModulePackage) {
    return no_package(what, fmt::format("unexpected artifact type \"{}\"", quotable(artifact, kShown)));
  }
  MODLOCK_TRY(auto layer, select_layer((*json)["layers"], what));
  if (const auto created = string_member((*json)["annotations"], "org.opencontainers.image.created")) {
    layer.created = read_time(*created);
  }
  return layer;
}

}  // namespace modlock::oci
