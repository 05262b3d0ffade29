#include "backends/providers/filesystem_mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/zip_layout.h"
#include "backends/providers/local_providers.h"
#include "backends/providers/source_answers.h"
#include "backends/store/tree_memo.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

Result<void> send_file(const fs::path& path, BodySink& sink) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    return system_failure("read", path, error ? error.value() : errno);
  }
  auto ok = sink.begin(size);
  std::string piece(std::size_t{256} << 10U, '\0');
  while (ok && file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    ok = sink.write(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  if (ok && file.bad()) {
    return system_failure("read", path, EIO);
  }
  return ok;
}

// The files beside each other at the top, as expect_provider_program() judges them.
std::vector<std::string> programs_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->symlink_status(ignored).type() != fs::file_type::directory) {
      names.push_back(entry->path().filename().string());
    }
  }
  return names;
}

class FilesystemMirror final : public ProviderSource {
 public:
  FilesystemMirror(fs::path directory, ProviderArchives& archives, const Store& store)
      : directory_(std::move(directory)), archives_(archives), store_(store) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    MODLOCK_TRY(const auto packages, packages_of(provider, context));
    ProviderListing listing;
    for (const LocalProvider& package : *packages) {
      listing.versions.push_back(package.version);
    }
    order_newest_first(listing.versions);
    if (!listing.versions.empty() && listing.versions.back() == ProviderVersion{}) {
      listing.warnings.push_back(
          fmt::format("Provider {} has an unspecified (0.0.0) version available in the filesystem mirror, source at "
                      "{}. It will not be used.",
                      provider.to_string(), directory_.string()));
    }
    return listing;
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    MODLOCK_TRY(const auto packages, packages_of(provider, context));
    ProviderRelease release{.covers_all_platforms = false};
    for (const Platform& platform : platforms) {
      const auto package = std::find_if(packages->begin(), packages->end(), [&](const LocalProvider& local) {
        return local.version == version && local.platform == platform;
      });
      if (package == packages->end()) {
        return not_available(provider, version, platform);
      }
      MODLOCK_TRY(auto hashed, hash(provider, *package, context));
      hashed.recorded = {hashed.h1};
      release.packages.insert_or_assign(platform, std::move(hashed));
    }
    return release;
  }

 private:
  Result<const std::vector<LocalProvider>*> packages_of(const ProviderAddress& provider, const Context& context) {
    MODLOCK_TRY(context.check());
    const std::lock_guard lock(mutex_);
    if (!found_) {
      found_ = find_local_providers(directory_);
    }
    if (!*found_) {
      return fail(found_->error());
    }
    static const std::vector<LocalProvider> kNone;
    const auto packages = (*found_)->find(provider);
    return packages == (*found_)->end() ? &kNone : &packages->second;
  }

  Result<ProviderPackage> hash(const ProviderAddress& provider, const LocalProvider& package, const Context& context) {
    if (package.is_packed) {
      return hash_archive(provider, package, context);
    }
    MODLOCK_TRY(expect_provider_program(programs_in(package.path), provider.type(), package.path.string()));
    return hash_installed(store_, package.path, {.rules = TreeRules::provider_package}, context)
        .map([](std::string h1) { return ProviderPackage{.h1 = std::move(h1)}; });
  }

  // Reading the archive twice costs less than inflating what is known.
  Result<ProviderPackage> hash_archive(const ProviderAddress& provider, const LocalProvider& package,
                                       const Context& context) {
    MODLOCK_TRY(const auto sha256, sha256_file(package.path));
    return archives_.hashes_of(
        {.display = package.path.string(), .type = provider.type(), .zh = "zh:" + hex(sha256.data(), sha256.size())},
        [&](BodySink& sink) { return send_file(package.path, sink); }, context);
  }

  const fs::path directory_;
  ProviderArchives& archives_;
  const Store& store_;
  std::mutex mutex_;
  std::optional<Result<LocalProviders>> found_;
};

}  // namespace

std::unique_ptr<ProviderSource> make_filesystem_mirror(fs::path directory, ProviderArchives& archives,
                                                       const Store& store) {
  return std::make_unique<FilesystemMirror>(std::move(directory), archives, store);
}

}  // namespace modlock
