#include "backends/providers/registry_provider_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/parallel.h"
#include "backends/base/single_flight_map.h"
#include "backends/package/provider_archive.h"
#include "backends/providers/authentication.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_client.h"
#include "backends/store/provider_hashes.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace provider_registry;

// Number of platforms of one version that are processed in parallel.
constexpr std::size_t kWidth = 8;

// The checksum file of a release and the result of its signature check.
struct Checksums {
  std::string document;
  std::vector<std::string> hashes;
  SignatureOutcome outcome;
};

// One platform's part of a release.
struct Part {
  std::shared_ptr<const PackageMetadata> metadata;
  std::shared_ptr<const Checksums> checksums;
  ProviderPackage package;
};

// A requested version, in all its forms.
struct Release {
  const ProviderAddress& provider;
  const ProviderVersion& version;
  SignatureRules rules;

  std::string display() const { return release_display(provider, version); }
  std::string display(const Platform& platform) const { return package_display(provider, version, platform); }
};

// For map_error(): says what the error is about.
auto about(std::string what) {
  return [what = std::move(what)](Error error) {
    error.message = fmt::format("{}: {}", what, error.message);
    return error;
  };
}

class RegistryProviderSource final : public ProviderSource {
 public:
  explicit RegistryProviderSource(RegistryProviderOptions options)
      : options_(std::move(options)),
        client_(options_.http, options_.client, options_.rules, options_.download_retries),
        known_(options_.store) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    return versions(provider, context).map([](const std::shared_ptr<const ProviderVersions>& found) {
      ProviderListing listing{.versions = {}, .warnings = found->warnings};
      for (const ListedProvider& listed : found->versions) {
        listing.versions.push_back(listed.version);
        if (listed.published) {
          listing.published.emplace(listed.version.to_string(), *listed.published);
        }
      }
      return listing;
    });
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    const Release wanted{provider,
                         version,
                         {.client = options_.rules,
                          .is_default_host = provider.host_ascii() == kOpenTofuRegistry,
                          .enforce_signatures = options_.enforce_signatures,
                          .enforce_expiration = options_.enforce_expiration}};
    // Set by the first failure, which ends all other work.
    std::stop_source ended;
    const std::stop_callback forward(context.stop, [&ended] { ended.request_stop(); });
    Context inner = context;
    inner.stop = ended.get_token();
    std::vector<Result<Part>> parts(platforms.size(), Part{});
    const std::size_t first = vouched_for(wanted, platforms, parts, inner) ? platforms.size() : 0;
    parallel_for(platforms.size() - first, kWidth, [&](std::size_t i) {
      parts[i] = part(wanted, platforms[i], inner);
      if (!parts[i]) {
        ended.request_stop();
      }
    });
    MODLOCK_TRY(context.check());
    return assemble(wanted, platforms, parts);
  }

  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override {
    const Release wanted{provider, version, {}};
    MODLOCK_TRY(const auto metadata, metadata_of(wanted, platform, context));
    return download_archive(client_, {metadata->archive_url, metadata->zh, wanted.display(platform)}, sink, context);
  }

 private:
  Result<std::shared_ptr<const ProviderVersions>> versions(const ProviderAddress& provider, const Context& context) {
    return versions_.get(provider.to_string(), context, [&] {
      return client_.versions(provider, context).map([](ProviderVersions found) {
        return std::make_shared<const ProviderVersions>(std::move(found));
      });
    });
  }

  // Whether the client trusts the unsigned hashes that the registry lists for all packages.
  static bool trusts_listed_hashes(const Release& release) { return !release.rules.are_required(); }

  // Fills all parts and returns true if the registry's data for the first platform covers the others. It does if the
  // first archive is as plain as its listed hashes claim: the others were made by the same tool.
  bool vouched_for(const Release& release, std::span<const Platform> platforms, std::vector<Result<Part>>& parts,
                   const Context& context) {
    if (options_.asks_of_each_platform || platforms.size() < 2 || !trusts_listed_hashes(release)) {
      return false;
    }
    const auto metadata = metadata_of(release, platforms[0], context);
    if (!metadata || (*metadata)->packages.empty()) {
      return false;
    }
    parts[0] = part(release, platforms[0], context);
    const std::string listed_h1 = parts[0] ? only_hash((*metadata)->packages.at(platforms[0]), "h1:") : std::string();
    if (listed_h1.empty() || parts[0]->package.h1 != listed_h1) {
      return false;
    }
    for (std::size_t i = 1; i < platforms.size(); ++i) {
      const auto listed = (*metadata)->packages.find(platforms[i]);
      ProviderPackage package;
      if (listed != (*metadata)->packages.end()) {
        package.h1 = package.archive_h1 = only_hash(listed->second, "h1:");
        package.zh = only_hash(listed->second, "zh:");
      }
      const std::vector<std::string>& signed_hashes = parts[0]->checksums->hashes;
      if (package.h1.empty() ||
          std::find(signed_hashes.begin(), signed_hashes.end(), package.zh) == signed_hashes.end()) {
        return false;
      }
      package.recorded = {package.h1, package.zh};
      parts[i] = Part{parts[0]->metadata, parts[0]->checksums, std::move(package)};
    }
    return true;
  }

  Result<Part> part(const Release& release, const Platform& platform, const Context& context) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(auto metadata, metadata_of(release, platform, context));
    MODLOCK_TRY(const auto* listed, listed_package(*metadata, platform).map_error(about(release.display(platform))));
    MODLOCK_TRY(auto checksums, checksums_of(release, *metadata, context));
    MODLOCK_TRY(expect_listed(checksums->document, metadata->file_name, metadata->zh)
                    .map_error(about(release.display(platform))));
    MODLOCK_TRY(auto package, package_of(release, platform, *metadata, listed, context));
    return Part{std::move(metadata), std::move(checksums), std::move(package)};
  }

  Result<std::shared_ptr<const PackageMetadata>> metadata_of(const Release& release, const Platform& platform,
                                                             const Context& context) {
    return packages_.get(release.display(platform), context, [&]() -> Result<std::shared_ptr<const PackageMetadata>> {
      MODLOCK_TRY(auto metadata, client_.package(release.provider, release.version, platform, context));
      if (!metadata.is_supported) {
        return fail(unsupported(release, context));
      }
      return std::make_shared<const PackageMetadata>(std::move(metadata));
    });
  }

  Error unsupported(const Release& release, const Context& context) {
    Error error{.code = Code::no_matching_version,
                .message = fmt::format("provider {} is not supported by this version of {}", release.display(),
                                       options_.rules == ClientRules::terraform ? "Terraform" : "OpenTofu"),
                .hint = "use another client version: this one supports no version of the provider"};
    const auto listing = versions(release.provider, context);
    if (!listing) {
      return listing.error();
    }
    const auto newest = newest_supported(**listing);
    if (!newest) {
      return about(release.provider.to_string())(newest.error());
    }
    if (*newest != nullptr) {
      error.hint = fmt::format("constrain it to \"{}\", the newest supported version", (*newest)->version.to_string());
    }
    return error;
  }

  Result<std::shared_ptr<const Checksums>> checksums_of(const Release& release, const PackageMetadata& metadata,
                                                        const Context& context) {
    std::vector<std::string> key = metadata.keys;
    key.push_back(metadata.checksums_url.reveal());
    key.push_back(metadata.signature_url.reveal());
    key.push_back(release.display());  // another host may have the same files, but other rules
    return checksums_.get(key, context, [&] { return ask_checksums(release, metadata, context); });
  }

  Result<std::shared_ptr<const Checksums>> ask_checksums(const Release& release, const PackageMetadata& metadata,
                                                         const Context& context) {
    const std::string name = release.display();
    if (metadata.keys.empty() && release.rules.are_required()) {
      MODLOCK_TRY(verify_signature({}, {}, {}, release.rules, name));
    }
    Checksums found;
    MODLOCK_TRY(found.document,
                client_.file(metadata.checksums_url, fmt::format("download the checksums of {}", name), context));
    std::string signature;
    if (!metadata.keys.empty()) {
      MODLOCK_TRY(signature,
                  client_.file(metadata.signature_url, fmt::format("download the signature of {}", name), context));
    }
    MODLOCK_TRY(found.outcome, verify_signature(metadata.keys, found.document, signature, release.rules, name));
    MODLOCK_TRY(found.hashes, hashes_of(found.document).map_error(about(name)));
    return std::make_shared<const Checksums>(std::move(found));
  }

  Result<ProviderPackage> package_of(const Release& release, const Platform& platform, const PackageMetadata& metadata,
                                     const ListedPackage* listed, const Context& context) {
    const std::string listed_h1 =
        listed != nullptr && trusts_listed_hashes(release) ? only_hash(*listed, "h1:") : std::string();
    const ProviderArchiveRequest request{metadata.archive_url, metadata.zh, release.display(platform)};
    const bool directory_suffices = !listed_h1.empty();
    MODLOCK_TRY(const auto archive, known_or_read(known_, request.zh, directory_suffices, context, [&] {
                  return probe_or_download(request, directory_suffices, context);
                }));
    if (listed != nullptr) {
      MODLOCK_TRY(expect_size(*listed, archive.size).map_error(about(request.display)));
    }
    MODLOCK_TRY(expect_provider_program(archive.programs, release.provider.type(), request.display));
    const bool is_read = !archive.h1.empty();
    ProviderPackage package{.h1 = is_read ? archive.h1 : listed_h1,
                            .archive_h1 = is_read ? archive.archive_h1 : listed_h1,
                            .zh = metadata.zh};
    package.recorded = {package.h1, package.zh};
    return package;
  }

  // Returns the only hash of a scheme that a registry lists for a package; empty if it lists none or several.
  static std::string only_hash(const ListedPackage& listed, std::string_view scheme) {
    std::set<std::string> found;
    for (const std::string& hash : listed.hashes) {
      if (hash.starts_with(scheme)) {
        found.insert(hash);
      }
    }
    return found.size() == 1 ? *found.begin() : std::string();
  }

  // `directory_suffices`: the listed hashes suffice if the archive is plain.
  Result<ProviderArchiveHashes> probe_or_download(const ProviderArchiveRequest& request, bool directory_suffices,
                                                  const Context& context) {
    // Most archives need no file, so a missing directory is an error only when a file is needed.
    const auto temporary = options_.store.work_directory().value_or(options_.store.temporary_directory());
    if (directory_suffices) {
      MODLOCK_TRY(auto found, probe_archive(client_, request, temporary, context));
      if (found) {
        return *std::move(found);
      }
    }
    return read_archive(client_, request, temporary, context);
  }

  static Result<ProviderRelease> assemble(const Release& release, std::span<const Platform> platforms,
                                          std::vector<Result<Part>>& parts) {
    const Error* failure = nullptr;
    for (const Result<Part>& part : parts) {
      const bool is_cause = !part && part.error().code != Code::request_cancelled;
      if (!part && (failure == nullptr || (is_cause && failure->code == Code::request_cancelled))) {
        failure = &part.error();
      }
    }
    if (failure != nullptr) {
      return fail(*failure);
    }
    ProviderRelease found;
    std::set<std::string> published;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Part& part = *parts[i];
      published.insert(part.checksums->hashes.begin(), part.checksums->hashes.end());
      if (trusts_listed_hashes(release)) {
        add_listed(part.metadata->packages, published);
      }
      if (i == 0) {
        found.signature = part.checksums->outcome.signature;
        found.warnings = part.checksums->outcome.warnings;
      }
      found.packages.emplace(platforms[i], std::move(part.package));
    }
    found.published.assign(published.begin(), published.end());
    found.covers_all_platforms = !found.published.empty();
    return found;
  }

  static void add_listed(const std::map<Platform, ListedPackage>& packages, std::set<std::string>& published) {
    for (const auto& [platform, listed] : packages) {
      for (const std::string& hash : listed.hashes) {
        if (hash.starts_with("h1:") || hash.starts_with("zh:")) {
          published.insert(hash);
        }
      }
    }
  }

  RegistryProviderOptions options_;
  ProviderClient client_;
  ProviderHashes known_;
  SingleFlightMap<std::string, std::shared_ptr<const ProviderVersions>> versions_;         // by address
  SingleFlightMap<std::string, std::shared_ptr<const PackageMetadata>> packages_;          // by release and platform
  SingleFlightMap<std::vector<std::string>, std::shared_ptr<const Checksums>> checksums_;  // by keys, URLs and release
};

}  // namespace

std::unique_ptr<ProviderSource> make_registry_provider_source(RegistryProviderOptions options) {
  return std::make_unique<RegistryProviderSource>(std::move(options));
}

}  // namespace modlock
