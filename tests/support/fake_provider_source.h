#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/providers/provider_source.h"

namespace modlock::test {

// Providers in memory. Hashes are made of the names: the package of aws 1.0.0 for linux_amd64 is
// "h1:aws-1.0.0-linux_amd64" and "zh:aws-1.0.0-linux_amd64"; all zh of a version are published. Counts what it is
// asked.
class FakeProviderSource final : public ProviderSource {
 public:
  // `address` without host is one of OpenTofu's registry.
  void add(std::string_view address, std::string_view version, const std::vector<std::string>& platforms);
  // Hashes that are published besides.
  void publish(std::string_view address, std::string_view version, const std::vector<std::string>& hashes);
  // From now on packages have other content: "…-replaced". With a platform only its package.
  void replace(std::string_view address, std::string_view version, const std::string& platform = {});
  // As a mirror has it: nothing is published; packages are directories, without an archive.
  void make_mirror(std::string_view address, std::string_view version);
  void sign(std::string_view address, std::string_view version, const std::string& key_id,
            std::optional<std::chrono::system_clock::time_point> made = std::nullopt);
  // Since when a version is known; else since 1970.
  void know_since(std::string_view address, std::string_view version, std::chrono::system_clock::time_point since);
  // What is said of it, for people.
  void warn(std::string_view address, const std::string& warning);
  void remove(std::string_view address, std::string_view version);
  // Every answer about this provider.
  void fail_with(std::string_view address, Error error);

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override;
  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override;
  // Sends what the hashes of the package are made of.
  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override;

  int listings = 0;
  int releases = 0;

 private:
  struct Version {
    ProviderVersion version;
    std::map<std::string, std::string> packages = {};  // platform -> what its hashes are made of
    std::vector<std::string> published = {};
    bool is_mirror = false;
    ProviderSignature signature = {};
    std::chrono::system_clock::time_point known_since = {};
  };
  Version& at(std::string_view address, std::string_view version);

  std::mutex mutex_;
  std::map<std::string, std::map<std::string, Version>> providers_;  // by address, by version
  std::map<std::string, std::vector<std::string>> warnings_;
  std::map<std::string, Error> errors_;
};

}  // namespace modlock::test
