#include "tests/backends/providers/mirror_fixture.h"

#include <fmt/ranges.h>

#include "backends/address/source.h"
#include "backends/base/digest.h"

namespace modlock::test {
namespace {

class Collector final : public BodySink {
 public:
  Result<void> begin(std::optional<std::uint64_t>) override {
    bytes.clear();
    return {};
  }
  Result<void> write(std::string_view piece) override {
    bytes += piece;
    return {};
  }
  std::string bytes;
};

std::string shown(const Error& error) {
  return fmt::format("{}: {}", to_string(error.code), error.message);
}

}  // namespace

Result<ProviderPackage> FakeArchives::hashes_of(const Archive& archive, const Send& send, const Context& /*context*/) {
  if (const auto known = remembered.find(archive.zh); known != remembered.end()) {
    return known->second;
  }
  Collector collector;
  if (auto ok = send(collector); !ok) {
    return fail(std::move(ok.error()));
  }
  return ProviderPackage{
      .h1 = "h1:dir " + collector.bytes, .archive_h1 = "h1:zip " + collector.bytes, .zh = zh_of(collector.bytes)};
}

ProviderAddress provider(std::string_view text) {
  return ProviderAddress::parse(text, kOpenTofuRegistry).value();
}

ProviderVersion version(std::string_view text) {
  return ProviderVersion::parse(text).value();
}

Platform platform(std::string_view text) {
  return Platform::parse(text).value();
}

std::string zh_of(const std::string& bytes) {
  return "zh:" + sha256_hex(bytes);
}

std::string downloaded(ProviderSource& source, std::string_view address, std::string_view which,
                       std::string_view name_of_platform) {
  Collector collector;
  const auto done =
      source.download(provider(address), version(which), platform(name_of_platform), collector, Context{});
  return done ? collector.bytes : shown(done.error());
}

std::string shown(const Result<ProviderListing>& listing) {
  if (!listing) {
    return shown(listing.error());
  }
  std::vector<std::string> parts;
  for (const ProviderVersion& each : listing->versions) {
    parts.push_back(each.to_string());
  }
  for (const std::string& warning : listing->warnings) {
    parts.push_back("! " + warning);
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string shown(const Result<ProviderRelease>& release) {
  if (!release) {
    return shown(release.error());
  }
  std::string text;
  for (const auto& [where, package] : release->packages) {
    text += fmt::format("{} {} = {}\n", where.to_string(), package.h1, fmt::join(package.recorded, " "));
  }
  if (!release->published.empty()) {
    text += fmt::format("published {}\n", fmt::join(release->published, " "));
  }
  return text + (release->covers_all_platforms ? "covers all\n" : "");
}

Result<ProviderListing> FakeSource::list_versions(const ProviderAddress& provider, const Context& /*context*/) {
  asked.push_back("list " + provider.to_string());
  if (failure) {
    return fail(*failure);
  }
  ProviderListing listing;
  for (const auto& [text, platforms] : has) {
    listing.versions.push_back(version(text));
  }
  listing.published = published;
  listing.warnings = has.empty() ? std::vector<std::string>() : std::vector{"from " + name};
  return listing;
}

Result<ProviderRelease> FakeSource::release(const ProviderAddress& /*provider*/, const ProviderVersion& which,
                                            std::span<const Platform> platforms, const Context& /*context*/) {
  std::string question = which.to_string();
  ProviderRelease release{.published = {"zh:" + name}, .covers_all_platforms = name == "registry"};
  bool has_all = true;
  for (const Platform& each : platforms) {
    question += " " + each.to_string();
    const auto& known = has[which.to_string()];
    has_all = has_all && std::find(known.begin(), known.end(), each.to_string()) != known.end();
    release.packages[each] = {.h1 = "h1:" + name, .recorded = {"h1:" + name}};
  }
  asked.push_back(question);
  if (failure) {
    return fail(*failure);
  }
  return has_all ? Result<ProviderRelease>(release) : fail(Code::not_found, name + " does not have it");
}

Result<void> FakeSource::download(const ProviderAddress& address, const ProviderVersion& which,
                                  const Platform& platform, BodySink& sink, const Context& context) {
  MODLOCK_TRY(release(address, which, {&platform, 1}, context));
  return sink.write(name);
}

}  // namespace modlock::test
