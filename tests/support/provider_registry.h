#pragma once

#include <json/value.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/archive_writer.h"
#include "tests/support/module_registry.h"
#include "tests/support/openpgp_key.h"

namespace modlock::test {

// The package of one platform, and its hashes.
struct PublishedArchive {
  std::string file_name;
  std::vector<ArchiveEntry> entries;
  std::string bytes;
  std::string zh;
  std::string h1;          // of the directory that it unpacks to
  std::string archive_h1;  // of its entries as they are named

  // Other bytes, and their hash; what was in the package stays as it was.
  void replace(std::string other_bytes);
};

// A package with a program that no client can start, and `entries` in front of it.
PublishedArchive make_provider_archive(const std::string& name, const std::string& version, const std::string& platform,
                                       const std::vector<ArchiveEntry>& entries = {});

// A release of a provider as a registry is to serve it. The functions are the switches for faults: each may change what
// was made before anything is made of that.
struct PublishedProvider {
  enum class Signing {
    valid,
    unsigned_release,   // no key is published; there is a signature all the same, as registries want it
    bad_signature,      // by the right key, of something else
    unknown_key,        // by a key that is not published
    expired_key,        // published, and over
    late_signature,     // by a published key that was over by then
    expired_signature,  // by the right key
    young_signature,    // by the right key, made now instead of two years ago
    malformed           // no signature at all
  };

  std::string name;  // "namespace/type"
  std::string version;
  std::string discovered = {};  // "2026-09-18T20:01:35Z" in the listing; empty: no date
  std::vector<std::string> platforms = {"linux_amd64"};
  Signing signing = Signing::valid;
  bool lists_packages = false;  // `packages` in the answer to a download
  std::vector<std::string> protocols = {"5.0"};
  std::vector<ArchiveEntry> entries = {};  // in each archive, in front of the program

  std::function<void(PublishedArchive&)> edit_archive = {};  // before its hashes are published
  std::function<void(std::string&)> edit_checksums = {};     // before they are signed
  std::function<void(Json::Value&, const std::string& platform)> edit_download = {};
  std::function<void(std::string&)> edit_served_archive = {};  // nothing else changes
};

// How often what was asked for.
struct ProviderRequests {
  int discovery = 0;
  int versions = 0;
  int downloads = 0;
  int checksums = 0;
  int signatures = 0;
  int archives = 0;  // a part of one counts too
  int others = 0;

  int total() const { return discovery + versions + downloads + checksums + signatures + archives + others; }
};

// A provider registry on a free port of the loopback. Signatures need openssl. Thread-safe but for publish() and
// list().
class ProviderRegistry {
 public:
  ProviderRegistry();
  // Over https.
  explicit ProviderRegistry(const ServerCertificate& certificate);

  // What serves it: modules, further answers, faults and tokens are its business.
  ModuleRegistry& server() { return server_; }
  std::string authority() const { return server_.authority(); }
  std::string url() const { return server_.url(); }
  std::string providers_url() const { return url() + "/v1/providers/"; }
  // The `host` block that leads a client here under another name.
  std::string host_block(const std::string& name) const;

  // Lists the release behind those that were published before and serves all of it; once more: replaces it.
  void publish(const PublishedProvider& release);
  // Lists a version that has nothing behind it. Any text goes.
  void list(const std::string& name, const std::string& version);
  // What the registry says of a provider, for people.
  void warn(const std::string& name, const std::string& warning);

  // As published. Throws std::out_of_range.
  const PublishedArchive& archive(const std::string& name, const std::string& version,
                                  const std::string& platform = "linux_amd64") const;
  // nullptr where it was not published.
  const PublishedArchive* find(const std::string& name, const std::string& version, const std::string& platform) const;
  // The checksums, lines in the order of platforms, and the manifest that no platform installs behind them.
  std::string checksums(const std::string& name, const std::string& version) const;
  const OpenPgpKey& key() const { return key_; }

  static std::string versions_path(const std::string& name);
  static std::string download_path(const std::string& name, const std::string& version,
                                   const std::string& platform = "linux_amd64");
  // "/files/namespace/type/version/", below which are archives, checksums and signature.
  static std::string files_path(const std::string& name, const std::string& version);

  // From now on the first request to each path is answered with 429 and `Retry-After: 0`.
  void throttle();

  ProviderRequests requests() const;
  void forget_requests() { server_.forget_requests(); }

 private:
  struct Release {
    std::map<std::string, PublishedArchive> archives;  // by platform
    std::string checksums;
  };
  struct Listing {
    std::vector<Json::Value> versions;
    std::vector<std::string> warnings;
  };

  void serve(const std::string& path, ModuleRegistry::Answer answer);
  void serve_listing(const std::string& name);
  void serve_downloads(const PublishedProvider& published, const Release& release);
  void serve_checksums(const PublishedProvider& published, const Release& release);
  const OpenPgpKey& other_key(std::optional<OpenPgpKey>& key, OpenPgpKey::Validity validity);

  ModuleRegistry server_;
  OpenPgpKey key_;
  std::optional<OpenPgpKey> unknown_key_;
  std::optional<OpenPgpKey> expired_key_;
  std::map<std::string, Listing> listings_;                          // by name
  std::map<std::pair<std::string, std::string>, Release> releases_;  // by name and version
  std::vector<std::string> paths_;
};

}  // namespace modlock::test
