#include "tests/support/provider_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backends/base/digest.h"
#include "protocol/base/json.h"

namespace modlock::test {
namespace {

using Signing = PublishedProvider::Signing;

std::string type_of(const std::string& name) {
  return name.substr(name.find('/') + 1);
}

std::string prefix_of(const std::string& name, const std::string& version) {
  return fmt::format("terraform-provider-{}_{}", type_of(name), version);
}

// "linux", "amd64"
std::pair<std::string, std::string> parts_of(const std::string& platform) {
  const std::size_t bar = platform.find('_');
  return {platform.substr(0, bar), platform.substr(bar + 1)};
}

std::string directory_hash(std::vector<std::pair<std::string, std::string>> files) {
  std::sort(files.begin(), files.end());
  std::string lines;
  for (const auto& [name, content] : files) {
    lines += fmt::format("{}  {}\n", sha256_hex(content), name);
  }
  const std::vector<std::uint8_t> digest = hash_of(Hash::sha256, lines);
  return "h1:" + base64(digest);
}

Json::Value strings(const std::vector<std::string>& texts) {
  Json::Value list(Json::arrayValue);
  for (const std::string& text : texts) {
    list.append(text);
  }
  return list;
}

Json::Value packages_of(const std::map<std::string, PublishedArchive>& archives) {
  Json::Value packages(Json::objectValue);
  for (const auto& [platform, archive] : archives) {
    packages[platform]["hashes"] = strings({archive.archive_h1, archive.zh});
    packages[platform]["package_size"] = Json::UInt64(archive.bytes.size());
  }
  return packages;
}

int& counter_of(ProviderRequests& requests, std::string_view line) {
  constexpr std::string_view kDiscovery = "GET /.well-known/terraform.json";
  if (line == kDiscovery) {
    return requests.discovery;
  }
  if (line.starts_with("GET /v1/providers/")) {
    return line.ends_with("/versions") ? requests.versions : requests.downloads;
  }
  if (line.starts_with("GET /files/")) {
    return line.ends_with("_SHA256SUMS")       ? requests.checksums
           : line.ends_with("_SHA256SUMS.sig") ? requests.signatures
                                               : requests.archives;
  }
  return requests.others;
}

}  // namespace

PublishedArchive make_provider_archive(const std::string& name, const std::string& version, const std::string& platform,
                                       const std::vector<ArchiveEntry>& entries) {
  const std::string program = fmt::format("terraform-provider-{}_v{}", type_of(name), version);
  std::vector<ArchiveEntry> all = entries;
  all.push_back({.name = platform.starts_with("windows_") ? program + ".exe" : program,
                 .content = fmt::format("#!/bin/sh\n# {} {} {}\nexit 1\n", name, version, platform),
                 .mode = 0755});
  std::vector<std::pair<std::string, std::string>> listed;
  std::vector<std::pair<std::string, std::string>> unpacked;
  for (const ArchiveEntry& entry : all) {
    listed.emplace_back(entry.name, entry.content);
    if (!entry.name.ends_with('/')) {
      unpacked.emplace_back(entry.name, entry.content);
    }
  }
  PublishedArchive archive;
  archive.file_name = fmt::format("{}_{}.zip", prefix_of(name, version), platform);
  archive.replace(make_zip(all));
  archive.h1 = directory_hash(std::move(unpacked));
  archive.archive_h1 = directory_hash(std::move(listed));
  archive.entries = std::move(all);
  return archive;
}

void PublishedArchive::replace(std::string other_bytes) {
  bytes = std::move(other_bytes);
  zh = "zh:" + sha256_hex(bytes);
}

ProviderRegistry::ProviderRegistry() : ProviderRegistry(ServerCertificate{}) {}

ProviderRegistry::ProviderRegistry(const ServerCertificate& certificate) : server_(certificate) {
  serve("/.well-known/terraform.json", {.body = R"({"modules.v1":"/v1/modules/","providers.v1":"/v1/providers/"})"});
}

std::string ProviderRegistry::host_block(const std::string& name) const {
  return fmt::format(
      "host \"{}\" {{\n  services = {{\n    \"modules.v1\"   = \"{}\"\n    \"providers.v1\" = \"{}\"\n  }}\n}}\n", name,
      server_.modules_url(), providers_url());
}

std::string ProviderRegistry::versions_path(const std::string& name) {
  return fmt::format("/v1/providers/{}/versions", name);
}

std::string ProviderRegistry::download_path(const std::string& name, const std::string& version,
                                            const std::string& platform) {
  const auto [os, arch] = parts_of(platform);
  return fmt::format("/v1/providers/{}/{}/download/{}/{}", name, version, os, arch);
}

std::string ProviderRegistry::files_path(const std::string& name, const std::string& version) {
  return fmt::format("/files/{}/{}/", name, version);
}

void ProviderRegistry::publish(const PublishedProvider& published) {
  const auto [place, is_new] = releases_.insert_or_assign({published.name, published.version}, Release{});
  Release& release = place->second;
  const std::string files = files_path(published.name, published.version);
  Json::Value entry;
  entry["version"] = published.version;
  if (!published.discovered.empty()) {
    entry["discovered"] = published.discovered;
  }
  entry["protocols"] = strings(published.protocols);
  entry["platforms"] = Json::Value(Json::arrayValue);
  for (const std::string& platform : published.platforms) {
    PublishedArchive archive = make_provider_archive(published.name, published.version, platform, published.entries);
    if (published.edit_archive) {
      published.edit_archive(archive);
    }
    release.checksums += fmt::format("{}  {}\n", archive.zh.substr(3), archive.file_name);
    std::string served = archive.bytes;
    if (published.edit_served_archive) {
      published.edit_served_archive(served);
    }
    serve(files + archive.file_name, {.body = std::move(served), .type = "application/zip"});
    release.archives.emplace(platform, std::move(archive));
    Json::Value listed;
    std::tie(listed["os"], listed["arch"]) = parts_of(platform);
    entry["platforms"].append(listed);
  }
  const std::string manifest = prefix_of(published.name, published.version) + "_manifest.json";
  release.checksums += fmt::format("{}  {}\n", sha256_hex(manifest), manifest);
  if (published.edit_checksums) {
    published.edit_checksums(release.checksums);
  }
  serve_checksums(published, release);
  serve_downloads(published, release);
  if (is_new) {
    listings_[published.name].versions.push_back(std::move(entry));
    serve_listing(published.name);
  }
}

void ProviderRegistry::list(const std::string& name, const std::string& version) {
  Json::Value entry;
  entry["version"] = version;
  listings_[name].versions.push_back(std::move(entry));
  serve_listing(name);
}

void ProviderRegistry::warn(const std::string& name, const std::string& warning) {
  listings_[name].warnings.push_back(warning);
  serve_listing(name);
}

const PublishedArchive& ProviderRegistry::archive(const std::string& name, const std::string& version,
                                                  const std::string& platform) const {
  return releases_.at({name, version}).archives.at(platform);
}

const PublishedArchive* ProviderRegistry::find(const std::string& name, const std::string& version,
                                               const std::string& platform) const {
  const auto release = releases_.find({name, version});
  if (release == releases_.end()) {
    return nullptr;
  }
  const auto archive = release->second.archives.find(platform);
  return archive == release->second.archives.end() ? nullptr : &archive->second;
}

std::string ProviderRegistry::checksums(const std::string& name, const std::string& version) const {
  return releases_.at({name, version}).checksums;
}

void ProviderRegistry::throttle() {
  for (const std::string& path : paths_) {
    server_.fault(path, {.status = 429, .body = "{}", .headers = {{"Retry-After", "0"}}});
  }
}

ProviderRequests ProviderRegistry::requests() const {
  ProviderRequests requests;
  for (const std::string& line : server_.lines()) {
    ++counter_of(requests, line);
  }
  return requests;
}

void ProviderRegistry::serve(const std::string& path, ModuleRegistry::Answer answer) {
  server_.serve(path, std::move(answer));
  paths_.push_back(path);
}

void ProviderRegistry::serve_listing(const std::string& name) {
  const Listing& listing = listings_[name];
  Json::Value body;
  body["versions"] = Json::Value(Json::arrayValue);
  for (const Json::Value& version : listing.versions) {
    body["versions"].append(version);
  }
  if (!listing.warnings.empty()) {
    body["warnings"] = strings(listing.warnings);
  }
  serve(versions_path(name), {.body = write_json(body)});
}

void ProviderRegistry::serve_downloads(const PublishedProvider& published, const Release& release) {
  const std::string files = url() + files_path(published.name, published.version);
  const std::string checksums = files + prefix_of(published.name, published.version) + "_SHA256SUMS";
  for (const auto& [platform, archive] : release.archives) {
    Json::Value body;
    body["protocols"] = strings(published.protocols);
    std::tie(body["os"], body["arch"]) = parts_of(platform);
    body["filename"] = archive.file_name;
    body["download_url"] = files + archive.file_name;
    body["shasum"] = archive.zh.substr(3);
    body["shasums_url"] = checksums;
    body["shasums_signature_url"] = checksums + ".sig";
    Json::Value& keys = body["signing_keys"]["gpg_public_keys"] = Json::Value(Json::arrayValue);
    if (published.signing != Signing::unsigned_release) {
      const bool is_expired = published.signing == Signing::expired_key || published.signing == Signing::late_signature;
      const OpenPgpKey& key = is_expired ? other_key(expired_key_, OpenPgpKey::Validity::expired) : key_;
      Json::Value entry;
      entry["key_id"] = key.id();
      entry["ascii_armor"] = key.armored();
      keys.append(entry);
    }
    if (published.lists_packages) {
      body["packages"] = packages_of(release.archives);
    }
    if (published.edit_download) {
      published.edit_download(body, platform);
    }
    serve(download_path(published.name, published.version, platform), {.body = write_json(body)});
  }
}

void ProviderRegistry::serve_checksums(const PublishedProvider& published, const Release& release) {
  const auto sign = [&] {
    switch (published.signing) {
      case Signing::unknown_key:
        return other_key(unknown_key_, OpenPgpKey::Validity::current).sign(release.checksums);
      case Signing::expired_key:
        return other_key(expired_key_, OpenPgpKey::Validity::expired).sign(release.checksums);
      case Signing::late_signature:
        return other_key(expired_key_, OpenPgpKey::Validity::expired)
            .sign(release.checksums, OpenPgpKey::Validity::current, OpenPgpKey::Made::late);
      case Signing::expired_signature:
        return key_.sign(release.checksums, OpenPgpKey::Validity::expired);
      case Signing::young_signature:
        return key_.sign(release.checksums, OpenPgpKey::Validity::current, OpenPgpKey::Made::now);
      case Signing::bad_signature:
        return key_.sign(release.checksums + "\n");
      case Signing::malformed:
        return std::string("no signature");
      case Signing::valid:
      case Signing::unsigned_release:
        break;
    }
    return key_.sign(release.checksums);
  };
  const std::string path =
      files_path(published.name, published.version) + prefix_of(published.name, published.version) + "_SHA256SUMS";
  serve(path, {.body = release.checksums, .type = "text/plain"});
  serve(path + ".sig", {.body = sign(), .type = "application/octet-stream"});
}

const OpenPgpKey& ProviderRegistry::other_key(std::optional<OpenPgpKey>& key, OpenPgpKey::Validity validity) {
  return key ? *key : key.emplace(validity);
}

}  // namespace modlock::test
