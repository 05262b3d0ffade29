#include "tests/support/fake_provider_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/http/http_client.h"

namespace modlock::test {
namespace {

std::string full(std::string_view address) {
  return ProviderAddress::parse(address, kOpenTofuRegistry)->to_string();
}

std::string type_of_address(std::string_view address) {
  return std::string(address.substr(address.rfind('/') + 1));
}

}  // namespace

FakeProviderSource::Version& FakeProviderSource::at(std::string_view address, std::string_view version) {
  return providers_[full(address)][std::string(version)];
}

void FakeProviderSource::add(std::string_view address, std::string_view version,
                             const std::vector<std::string>& platforms) {
  Version& added = at(address, version);
  added.version = *ProviderVersion::parse(version);
  for (const std::string& platform : platforms) {
    added.packages[platform] = fmt::format("{}-{}-{}", type_of_address(address), version, platform);
  }
}

void FakeProviderSource::publish(std::string_view address, std::string_view version,
                                 const std::vector<std::string>& hashes) {
  at(address, version).published = hashes;
}

void FakeProviderSource::replace(std::string_view address, std::string_view version, const std::string& platform) {
  for (auto& [name, content] : at(address, version).packages) {
    if (platform.empty() || platform == name) {
      content += "-replaced";
    }
  }
}

void FakeProviderSource::make_mirror(std::string_view address, std::string_view version) {
  at(address, version).is_mirror = true;
}

void FakeProviderSource::sign(std::string_view address, std::string_view version, const std::string& key_id,
                              std::optional<std::chrono::system_clock::time_point> made) {
  at(address, version).signature = {ProviderSignature::Status::signed_by_key, key_id, made};
}

void FakeProviderSource::know_since(std::string_view address, std::string_view version,
                                    std::chrono::system_clock::time_point since) {
  at(address, version).known_since = since;
}

void FakeProviderSource::warn(std::string_view address, const std::string& warning) {
  warnings_[full(address)].push_back(warning);
}

void FakeProviderSource::remove(std::string_view address, std::string_view version) {
  providers_[full(address)].erase(std::string(version));
}

void FakeProviderSource::fail_with(std::string_view address, Error error) {
  errors_[full(address)] = std::move(error);
}

Result<ProviderListing> FakeProviderSource::list_versions(const ProviderAddress& provider, const Context&) {
  const std::lock_guard lock(mutex_);
  ++listings;
  const std::string name = provider.to_string();
  if (const auto error = errors_.find(name); error != errors_.end()) {
    return fail(error->second);
  }
  if (providers_.count(name) == 0) {
    return fail(Code::not_found,
                fmt::format("provider registry {} does not have a provider named {}", provider.host(), name));
  }
  ProviderListing listing{.versions = {}, .warnings = warnings_[name]};
  for (const auto& [text, version] : providers_[name]) {
    listing.versions.push_back(version.version);
  }
  std::stable_sort(listing.versions.begin(), listing.versions.end(),
                   [](const ProviderVersion& left, const ProviderVersion& right) { return compare(left, right) > 0; });
  for (const ProviderVersion& version : listing.versions) {
    listing.known_since.push_back(providers_[name].at(version.to_string()).known_since);
  }
  return listing;
}

Result<ProviderRelease> FakeProviderSource::release(const ProviderAddress& provider, const ProviderVersion& version,
                                                    std::span<const Platform> platforms, const Context& context) {
  const std::lock_guard lock(mutex_);
  ++releases;
  const std::string name = provider.to_string();
  if (const auto error = errors_.find(name); error != errors_.end()) {
    return fail(error->second);
  }
  if (context.offline) {
    return fail(Code::offline_miss, fmt::format("provider {} cannot be asked for offline", name));
  }
  const auto known = providers_[name].find(version.to_string());
  ProviderRelease release;
  for (const Platform& platform : platforms) {
    const std::string text = platform.to_string();
    if (known == providers_[name].end() || known->second.packages.count(text) == 0) {
      return fail(Code::not_found,
                  fmt::format("provider {} {} is not available for {}", name, version.to_string(), text));
    }
    const std::string& content = known->second.packages.at(text);
    ProviderPackage package{.h1 = "h1:" + content};
    package.recorded = {package.h1};
    if (!known->second.is_mirror) {
      package.zh = "zh:" + content;
      package.recorded.push_back(package.zh);
    }
    release.packages.emplace(platform, std::move(package));
  }
  release.covers_all_platforms = !known->second.is_mirror;
  if (!known->second.is_mirror) {
    release.published = known->second.published;
    for (const auto& [platform, content] : known->second.packages) {
      release.published.push_back("zh:" + content);
    }
    std::sort(release.published.begin(), release.published.end());
  }
  release.signature = known->second.signature;
  return release;
}

Result<void> FakeProviderSource::download(const ProviderAddress& provider, const ProviderVersion& version,
                                          const Platform& platform, BodySink& sink, const Context& context) {
  MODLOCK_TRY(const auto found, release(provider, version, {&platform, 1}, context));
  const std::string content = found.packages.at(platform).h1.substr(3);
  MODLOCK_TRY(sink.begin(content.size()));
  return sink.write(content);
}

}  // namespace modlock::test
