#include "tests/fidelity/mirrors.h"

#include <fmt/ranges.h>
#include <json/value.h>

#include <algorithm>
#include <map>

#include "tests/support/oci_module.h"
#include "tests/support/temporary_directory.h"

namespace modlock::fidelity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMissingPlatform = "linux_amd64";  // of bad/platform

// The hashes that a network mirror lists for an archive.
std::vector<std::string> listed_hashes(const std::string& name, const test::PublishedArchive& archive) {
  const std::string wrong_h1 = "h1:" + std::string(43, 'a') + "=";
  const std::map<std::string, std::vector<std::string>> particular = {
      {"hashicorp/bravo", {}},
      {"a/echo", {archive.h1}},
      {"a-b/echo", {archive.zh}},
      {"acme/noted", {wrong_h1, archive.zh}},
      {"acme/directories", {archive.archive_h1, archive.zh, archive.h1}},
      {"acme/linux", {"h9:new", archive.zh}},
      {"bad/truncated", {}},
      {"bad/size", {"h9:new"}},
      {"bad/sums", {"nothing", archive.zh}},
      {"bad/shasum", {wrong_h1, "zh:" + std::string(64, 'a')}},
  };
  const auto found = particular.find(name);
  return found == particular.end() ? std::vector<std::string>{archive.h1, archive.zh} : found->second;
}

std::string served_bytes(const std::string& name, const test::PublishedArchive& archive) {
  return name == "bad/archive" ? archive.bytes + '\n' : archive.bytes;
}

// The platforms of which a mirror has a package; with each its archive.
std::vector<std::pair<std::string, const test::PublishedArchive*>> archives_of(const test::ProviderRegistry& registry,
                                                                               const Offer& offer,
                                                                               const std::string& version) {
  std::vector<std::pair<std::string, const test::PublishedArchive*>> archives;
  for (const std::string& platform : offer.platforms) {
    const test::PublishedArchive* archive = registry.find(offer.name, version, platform);
    if (archive != nullptr && (offer.name != "bad/platform" || platform != kMissingPlatform)) {
      archives.emplace_back(platform, archive);
    }
  }
  return archives;
}

// One release on an OCI registry.
void push_release(const test::ProviderRegistry& registry, const Offer& offer, const std::string& version,
                  const std::string& repository, test::OciRegistry& server) {
  constexpr const char* kTarget = "application/vnd.opentofu.provider-target";
  constexpr const char* kIndex = "application/vnd.oci.image.index.v1+json";
  std::vector<std::string> manifests;
  for (const auto& [platform, archive] : archives_of(registry, offer, version)) {
    const std::string manifest = test::oci_manifest(test::oci_layer(archive->bytes), kTarget);
    const std::string digest = server.put_manifest(repository, test::digest_of(manifest), manifest);
    server.put_blob(repository, test::digest_of(archive->bytes), served_bytes(offer.name, *archive));
    const std::size_t separator = platform.find('_');
    manifests.push_back(fmt::format(
        R"({{"mediaType":"{}","artifactType":"{}","digest":"{}","size":{},"platform":{{"os":"{}","architecture":"{}"}}}})",
        test::kOciManifestType, kTarget, digest, manifest.size(), platform.substr(0, separator),
        platform.substr(separator + 1)));
  }
  std::string tag = version;
  std::replace(tag.begin(), tag.end(), '+', '_');
  server.put_manifest(
      repository, tag,
      fmt::format(
          R"({{"schemaVersion":2,"mediaType":"{}","artifactType":"application/vnd.opentofu.provider","manifests":[{}]}})",
          kIndex, fmt::join(manifests, ",")),
      kIndex);
}

}  // namespace

void fill_mirror(const test::ProviderRegistry& registry, const std::vector<Offer>& offers, const fs::path& directory,
                 const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    for (const Offer& offer : offers) {
      if (!offer.is_sound) {
        continue;
      }
      const fs::path home = directory / host / offer.name;
      for (const std::string& version : offer.versions) {
        for (const std::string& platform : offer.platforms) {
          const test::PublishedArchive& archive = registry.archive(offer.name, version, platform);
          if (offer.name.starts_with("acme/")) {
            test::write_text(home / archive.file_name, archive.bytes);
            continue;
          }
          for (const test::ArchiveEntry& entry : archive.entries) {
            const fs::path path = home / version / platform / entry.name;
            test::write_text(path, entry.content);
            fs::permissions(path, static_cast<fs::perms>(entry.mode));
          }
        }
      }
    }
  }
}

std::string serve_mirror(const test::ProviderRegistry& registry, const std::vector<Offer>& offers,
                         test::ModuleRegistry& server, const std::vector<std::string>& hosts) {
  for (const Offer& offer : offers) {
    Json::Value index;
    index["versions"] = Json::objectValue;
    for (const std::string& version : offer.versions) {
      index["versions"][version] = Json::objectValue;
      Json::Value release;
      release["archives"] = Json::objectValue;
      for (const auto& [platform, archive] : archives_of(registry, offer, version)) {
        const std::string place = fmt::format("/archives/{}/{}", offer.name, archive->file_name);
        server.serve(place, {.body = served_bytes(offer.name, *archive), .type = "application/zip"});
        Json::Value& entry = release["archives"][platform];
        entry["url"] = offer.name.starts_with("a/") ? server.url() + place : "../../../.." + place;
        for (const std::string& hash : listed_hashes(offer.name, *archive)) {
          entry["hashes"].append(hash);
        }
      }
      for (const std::string& host : hosts) {
        if (offer.name != "bad/hollow") {
          server.serve(fmt::format("/mirror/{}/{}/{}.json", host, offer.name, version),
                       {.body = release.toStyledString()});
        }
      }
    }
    if (offer.name == "bad/listing") {
      index["versions"]["v1.x"] = Json::objectValue;
    }
    for (const std::string& host : hosts) {
      if (offer.name != "bad/missing") {
        server.serve(fmt::format("/mirror/{}/{}/index.json", host, offer.name), {.body = index.toStyledString()});
      }
    }
  }
  return server.url() + "/mirror/";
}

std::string push_mirror(const test::ProviderRegistry& registry, const std::vector<Offer>& offers,
                        test::OciRegistry& server, const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    for (const Offer& offer : offers) {
      const std::string repository = fmt::format("mirror/{}/{}", host, offer.name);
      for (const std::string& version : offer.versions) {
        if (offer.name != "bad/missing") {
          push_release(registry, offer, version, repository, server);
        }
      }
      if (offer.name == "bad/listing") {
        server.put_manifest(repository, "latest", "{}");
      }
    }
  }
  return server.host() + "/mirror/${hostname}/${namespace}/${type}";
}

}  // namespace modlock::fidelity
