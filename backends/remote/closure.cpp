#include "backends/remote/closure.h"

#include <fmt/ranges.h>
#include <json/value.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/source.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/package/unpack.h"
#include "protocol/base/json.h"

namespace modlock::remote {
namespace {

constexpr std::string_view kEmptyType = "application/vnd.oci.empty.v1+json";
constexpr std::string_view kModulePackage = "application/vnd.opentofu.modulepkg";
constexpr std::string_view kProvider = "application/vnd.opentofu.provider";
constexpr std::string_view kProviderTarget = "application/vnd.opentofu.provider-target";
constexpr std::string_view kZip = "archive/zip";
constexpr std::string_view kClosureType = "application/vnd.tofu-modlock.closure";
constexpr const char* kRefName = "org.opencontainers.image.ref.name";
constexpr const char* kSource = "tofu-modlock.source";
constexpr const char* kOrigin = "tofu-modlock.origin";
constexpr const char* kH1 = "tofu-modlock.h1";
constexpr const char* kSubdir = "tofu-modlock.subdir";
constexpr const char* kLinks = "tofu-modlock.links";
constexpr const char* kLayer = "tofu-modlock.layer";
constexpr const char* kLayerSize = "tofu-modlock.layer-size";
constexpr std::string_view kTreesType = "application/vnd.tofu-modlock.trees";
constexpr const char* kTrees = "tofu-modlock.trees";
constexpr const char* kTreesSize = "tofu-modlock.trees-size";
constexpr const char* kProviders = "tofu-modlock.providers";

Json::Value descriptor(std::string_view media_type, const Blob& blob) {
  Json::Value value;
  value["mediaType"] = std::string(media_type);
  value["digest"] = blob.digest;
  value["size"] = Json::UInt64{blob.size};
  return value;
}

// Returns an image manifest with one zip.
Json::Value manifest(std::string_view artifact_type, const Blob& layer) {
  Json::Value value;
  value["schemaVersion"] = 2;
  value["mediaType"] = std::string(kImageManifest);
  value["artifactType"] = std::string(artifact_type);
  value["config"] = descriptor(kEmptyType, blob_of(kEmptyConfig));
  value["layers"].append(descriptor(kZip, layer));
  return value;
}

Json::Value index(std::string_view artifact_type) {
  Json::Value value;
  value["schemaVersion"] = 2;
  value["mediaType"] = std::string(kImageIndex);
  if (!artifact_type.empty()) {
    value["artifactType"] = std::string(artifact_type);
  }
  value["manifests"] = Json::Value(Json::arrayValue);
  return value;
}

tl::unexpected<Error> damaged(std::string_view what, std::string_view why) {
  return fail(Code::source_invalid, fmt::format("{} is damaged: {}", what, why), "create the bundle again");
}

bool is_digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  constexpr std::size_t kDigits = 64;
  return text.starts_with(kPrefix) && text.size() == kPrefix.size() + kDigits &&
         text.substr(kPrefix.size()).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Returns whether a path is relative and stays below its directory.
bool stays_below(std::string_view path) {
  const std::filesystem::path parsed(path);
  return !path.empty() && path.find('\0') == std::string_view::npos && parsed.is_relative() &&
         std::ranges::none_of(parsed, [](const auto& part) { return part == ".."; });
}

Result<Blob> read_descriptor(const Json::Value& value, std::string_view media_type, std::string_view what) {
  const std::string digest = string_member(value, "digest").value_or("");
  if (!is_digest(digest) || !value["size"].isUInt64() || string_member(value, "mediaType") != media_type) {
    return damaged(what, "a descriptor has an invalid media type, digest or size");
  }
  return Blob{digest, value["size"].asUInt64()};
}

// Returns an index whose entries are objects.
Result<Json::Value> read_index(std::string_view text, std::string_view artifact_type, std::string_view what) {
  auto json = text.size() > kManifestLimit ? fail(Error{.message = "it is larger than 4 MiB"}) : parse_json(text);
  if (!json) {
    return damaged(what, json.error().message);
  }
  if (!json->isObject() || string_member(*json, "mediaType").value_or(std::string(kImageIndex)) != kImageIndex ||
      string_member(*json, "artifactType").value_or("") != artifact_type || !(*json)["manifests"].isArray()) {
    return damaged(what, artifact_type.empty() ? "it is not an image index"
                                               : fmt::format("it is not an index of type \"{}\"", artifact_type));
  }
  const Json::Value& entries = (*json)["manifests"];
  const auto is_object = [](const Json::Value& entry) { return entry.isObject(); };
  return std::ranges::all_of(entries, is_object) ? Result<Json::Value>(std::move(*json))
                                                 : damaged(what, "an entry is not an object");
}

std::string annotation(const Json::Value& descriptor, const char* name) {
  return string_member(descriptor["annotations"], name).value_or("");
}

Result<Links> read_links(const std::string& text, std::string_view what) {
  Links links;
  if (text.empty()) {
    return links;
  }
  const auto json = parse_json(text);
  if (!json || !json->isObject()) {
    return damaged(what, "the links of a package are not a JSON object");
  }
  for (const std::string& name : json->getMemberNames()) {
    const auto target = string_member(*json, name.c_str());
    if (!target || target->empty() || target->find('\0') != std::string::npos || !stays_below(name)) {
      return damaged(what, "a link of a package is invalid");
    }
    links[name] = *target;
  }
  return links;
}

// Returns the annotations of a package that its manifest and its entry of a closure have.
Json::Value annotations_of(const BundledPackage& package, const std::string& source) {
  Json::Value annotations;
  annotations[kSource] = source;
  annotations[kOrigin] = package.origin;
  annotations[kH1] = package.h1;
  if (!package.subdir.empty()) {
    annotations[kSubdir] = package.subdir;
  }
  Json::Value links(Json::objectValue);
  for (const auto& [name, target] : package.links) {
    links[name] = target;
  }
  if (!links.empty()) {
    annotations[kLinks] = write_json(links);
  }
  return annotations;
}

// Reads annotations_of().
Result<BundledPackage> read_package(const Json::Value& value, Blob layer, Blob trees, std::string_view what) {
  BundledPackage package{
      .source = annotation(value, kSource), .origin = annotation(value, kOrigin), .h1 = annotation(value, kH1)};
  package.subdir = annotation(value, kSubdir);
  package.layer = std::move(layer);
  package.trees = std::move(trees);
  const bool has_valid_trees =
      package.trees.digest.empty() || (is_digest(package.trees.digest) && package.trees.size <= kTreesLimit);
  MODLOCK_TRY(package.links, read_links(annotation(value, kLinks), what));
  if (!has_valid_trees || package.source.empty() || !package.h1.starts_with("h1:") ||
      !is_digest(package.layer.digest) || package.layer.size > UnpackLimits{}.total_bytes ||
      !(package.subdir.empty() || stays_below(package.subdir))) {
    return damaged(what, "a package lacks an annotation, or has an invalid one");
  }
  return package;
}

// Reads the digest and the size of a blob from two annotations: an empty one if there are none. A size that is not a
// number is larger than any limit.
Blob read_blob(const Json::Value& value, const char* digest, const char* size) {
  Blob blob{.digest = annotation(value, digest)};
  if (blob.digest.empty()) {
    return blob;
  }
  const std::string text = annotation(value, size);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), blob.size);
  if (error != std::errc() || end != text.data() + text.size()) {
    blob.size = std::numeric_limits<std::uint64_t>::max();
  }
  return blob;
}

Json::Value providers_json(const std::vector<BundledProvider>& providers) {
  Json::Value list(Json::arrayValue);
  for (const BundledProvider& provider : providers) {
    Json::Value one;
    one["address"] = provider.address;
    one["version"] = provider.version;
    for (const auto& [platform, archive] : provider.archives) {
      one["archives"][platform] = descriptor(kZip, archive.layer);
      one["archives"][platform]["h1"] = archive.h1;
    }
    list.append(std::move(one));
  }
  return list;
}

Result<BundledProvider> read_provider(const Json::Value& value, std::string_view what) {
  const auto invalid = [&] { return damaged(what, "a provider is invalid"); };
  if (!value.isObject() || !value["archives"].isObject()) {
    return invalid();
  }
  BundledProvider provider;
  const auto address = ProviderAddress::parse(string_member(value, "address").value_or(""), kOpenTofuRegistry);
  const auto version = ProviderVersion::parse(string_member(value, "version").value_or(""));
  if (!address || !version) {
    return invalid();
  }
  provider.address = address->to_string();
  provider.version = version->to_string();
  for (const std::string& platform : value["archives"].getMemberNames()) {
    const Json::Value& archive = value["archives"][platform];
    if (!Platform::parse(platform) || !archive.isObject()) {
      return invalid();
    }
    MODLOCK_TRY(auto layer, read_descriptor(archive, kZip, what));
    provider.archives[platform] = {.layer = std::move(layer), .h1 = string_member(archive, "h1").value_or("")};
  }
  return provider.archives.empty() ? invalid() : Result<BundledProvider>(std::move(provider));
}

Result<std::vector<BundledProvider>> read_providers(const std::string& text, std::string_view what) {
  Closure closure;
  if (text.empty()) {
    return closure.providers;
  }
  const auto json = parse_json(text);
  if (!json || !json->isArray()) {
    return damaged(what, "its providers are not a JSON array");
  }
  for (const Json::Value& value : *json) {
    MODLOCK_TRY(const auto provider, read_provider(value, what));
    closure.add({provider});
  }
  return std::move(closure.providers);
}

}  // namespace

std::string BundledPackage::package_source() const {
  const auto parsed = parse_identity(source);
  return parsed ? parsed->package_identity() : source;
}

std::string BundledPackage::tag() const {
  return "module-" + sha256_hex(fmt::format("{} {} {}", package_source(), origin, h1));
}

std::string BundledProvider::tag() const {
  std::string text = version;
  std::ranges::replace(text, '+', '_');
  return text;
}

void Closure::add(const std::vector<BundledProvider>& more) {
  for (const BundledProvider& provider : more) {
    const auto place = std::lower_bound(
        providers.begin(), providers.end(), provider, [](const BundledProvider& left, const BundledProvider& right) {
          return std::tie(left.address, left.version) < std::tie(right.address, right.version);
        });
    if (place == providers.end() || place->address != provider.address || place->version != provider.version) {
      providers.insert(place, provider);
    } else {
      place->archives.insert(provider.archives.begin(), provider.archives.end());
    }
  }
}

Result<std::vector<BundledProvider>> providers_of(const std::vector<NamedClosure>& closures) {
  Closure all;
  std::map<std::string, std::string> digests;  // by address, version and platform
  for (const NamedClosure& one : closures) {
    all.add(one.closure.providers);
    for (const BundledProvider& provider : one.closure.providers) {
      for (const auto& [platform, archive] : provider.archives) {
        const std::string name = fmt::format("{} {} for {}", provider.address, provider.version, platform);
        const std::string& first = digests.emplace(name, archive.layer.digest).first->second;
        if (first != archive.layer.digest) {
          return fail(
              Code::hash_mismatch,
              fmt::format("two lock files have different archives of {}: {} and {}", name, first, archive.layer.digest),
              "bundle their root modules separately, or lock the provider again in one of them");
        }
      }
    }
  }
  return std::move(all.providers);
}

std::string Closure::tag() const {
  auto lines = mapped(packages, [](const BundledPackage& package) {
    return fmt::format("{} {} {}\n", package.source, package.origin, package.h1);
  });
  sort_unique(lines);
  return "closure-" + sha256_hex(fmt::format("{}", fmt::join(lines, "")));
}

Blob blob_of(std::string_view bytes) {
  return {"sha256:" + sha256_hex(bytes), bytes.size()};
}

std::string write_package_manifest(const BundledPackage& package) {
  Json::Value value = manifest(kModulePackage, package.layer);
  if (!package.trees.digest.empty()) {  // OpenTofu ignores layers of other types
    value["layers"].append(descriptor(kTreesType, package.trees));
  }
  value["annotations"] = annotations_of(package, package.package_source());
  return write_json(value);
}

Result<BundledPackage> read_package_manifest(std::string_view text, std::string_view what) {
  const auto json = parse_json(text);
  if (!json || !json->isObject() || string_member(*json, "artifactType") != kModulePackage ||
      !(*json)["layers"].isArray() || (*json)["layers"].empty() || !(*json)["layers"][0].isObject()) {
    return damaged(what, "it is not the manifest of a module package");
  }
  MODLOCK_TRY(auto layer, read_descriptor((*json)["layers"][0], kZip, what));
  Blob trees;
  if (const Json::Value& second = (*json)["layers"][1]; second.isObject()) {
    MODLOCK_TRY(trees, read_descriptor(second, kTreesType, what));
  }
  MODLOCK_TRY(auto package, read_package(*json, std::move(layer), std::move(trees), what));
  package.manifest = blob_of(text);
  return package;
}

std::string write_provider_manifest(const Blob& layer) {
  return write_json(manifest(kProviderTarget, layer));
}

std::string write_provider_index(const BundledProvider& provider) {
  Json::Value value = index(kProvider);
  for (const auto& [platform, archive] : provider.archives) {
    Json::Value entry = descriptor(kImageManifest, blob_of(write_provider_manifest(archive.layer)));
    entry["artifactType"] = std::string(kProviderTarget);
    const std::size_t end = platform.find('_');
    entry["platform"]["os"] = platform.substr(0, end);
    entry["platform"]["architecture"] = platform.substr(end + 1);
    value["manifests"].append(std::move(entry));
  }
  return write_json(value);
}

std::string merge_provider_indexes(std::string_view own, std::string_view present) {
  std::map<std::pair<std::string, std::string>, Json::Value> entries;  // by system and architecture
  for (const std::string_view text : {own, present}) {
    const auto read = read_index(text, kProvider, "the index");
    for (const Json::Value& entry : read ? (*read)["manifests"] : Json::Value()) {
      const Json::Value& platform = entry["platform"];
      entries.emplace(
          std::pair(string_member(platform, "os").value_or(""), string_member(platform, "architecture").value_or("")),
          entry);
    }
  }
  Json::Value merged = index(kProvider);
  for (const auto& [platform, entry] : entries) {
    merged["manifests"].append(entry);
  }
  return write_json(merged);
}

std::string write_closure(const Closure& closure) {
  Json::Value value = index(kClosureType);
  for (const BundledPackage& package : closure.packages) {
    Json::Value entry = descriptor(kImageManifest, package.manifest);
    entry["artifactType"] = std::string(kModulePackage);
    Json::Value& annotations = entry["annotations"];
    annotations = annotations_of(package, package.source);
    annotations[kLayer] = package.layer.digest;
    annotations[kLayerSize] = std::to_string(package.layer.size);
    if (!package.trees.digest.empty()) {
      annotations[kTrees] = package.trees.digest;
      annotations[kTreesSize] = std::to_string(package.trees.size);
    }
    value["manifests"].append(std::move(entry));
  }
  if (!closure.providers.empty()) {
    value["annotations"][kProviders] = write_json(providers_json(closure.providers));
  }
  return write_json(value);
}

Result<Closure> read_closure(std::string_view text, std::string_view what) {
  MODLOCK_TRY(const auto index, read_index(text, kClosureType, what));
  Closure closure;
  MODLOCK_TRY(closure.providers, read_providers(annotation(index, kProviders), what));
  for (const Json::Value& entry : index["manifests"]) {
    MODLOCK_TRY(auto package,
                read_package(entry, read_blob(entry, kLayer, kLayerSize), read_blob(entry, kTrees, kTreesSize), what));
    MODLOCK_TRY(package.manifest, read_descriptor(entry, kImageManifest, what));
    closure.packages.push_back(std::move(package));
  }
  return closure;
}

std::string write_layout_index(const std::vector<TaggedClosure>& closures,
                               const std::vector<BundledProvider>& providers) {
  Json::Value value = index("");
  const auto add = [&](const Blob& index, std::string_view type, const std::string& name) {
    Json::Value entry = descriptor(kImageIndex, index);
    entry["artifactType"] = std::string(type);
    entry["annotations"][kRefName] = name;
    value["manifests"].append(std::move(entry));
  };
  for (const TaggedClosure& closure : closures) {
    add(closure.index, kClosureType, closure.tag);
  }
  for (const BundledProvider& provider : providers) {
    add(blob_of(write_provider_index(provider)), kProvider, fmt::format("{}:{}", provider.address, provider.tag()));
  }
  return write_json(value);
}

Result<std::vector<TaggedClosure>> read_layout_index(std::string_view text, std::string_view what) {
  MODLOCK_TRY(const auto index, read_index(text, "", what));
  std::vector<TaggedClosure> closures;
  std::set<std::string> known;  // tags and digests
  for (const Json::Value& entry : index["manifests"]) {
    if (string_member(entry, "artifactType") == kClosureType) {
      MODLOCK_TRY(auto blob, read_descriptor(entry, kImageIndex, what));
      std::string tag = annotation(entry, kRefName);
      if (known.insert(tag).second && known.insert(blob.digest).second) {
        closures.push_back({std::move(tag), std::move(blob)});
      }
    }
  }
  return closures.empty() ? damaged(what, "it lists no packages of tofu-modlock")
                          : Result<std::vector<TaggedClosure>>(std::move(closures));
}

}  // namespace modlock::remote
