#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "backends/store/store.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// Hashes that can be told apart: the zh is real, "h1:dir <bytes>" and "h1:zip <bytes>" are made up.
class FakeArchives final : public ProviderArchives {
 public:
  Result<ProviderPackage> hashes_of(const Archive& archive, const Send& send, const Context& context) override;

  // What is known without being read.
  std::map<std::string, ProviderPackage, std::less<>> remembered;
};

ProviderAddress provider(std::string_view text);
ProviderVersion version(std::string_view text);
Platform platform(std::string_view text);
std::string zh_of(const std::string& bytes);

// "2.0.0 1.0.0 ! warning", or "CODE: message".
std::string shown(const Result<ProviderListing>& listing);
// One platform a line: "linux_amd64 h1:… = recorded …"; then "published …", and "covers all" where it does. Or
// "CODE: message".
std::string shown(const Result<ProviderRelease>& release);

// Returns the archive that a source sends, or "CODE: message".
std::string downloaded(ProviderSource& source, std::string_view address, std::string_view which,
                       std::string_view name_of_platform = "linux_amd64");

// A source that answers out of a table, and remembers what it was asked.
class FakeSource final : public ProviderSource {
 public:
  // What it has: platforms by version.
  std::map<std::string, std::vector<std::string>> has;
  std::string name;
  std::optional<Error> failure = {};
  std::map<std::string, std::chrono::system_clock::time_point> published = {};
  std::vector<std::string> asked = {};

  FakeSource(std::string own_name, std::map<std::string, std::vector<std::string>> versions)
      : has(std::move(versions)), name(std::move(own_name)) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override;
  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override;
  // Sends its name.
  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override;
};

}  // namespace modlock::test
