#include "backends/providers/provider_mirrors.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/address/source.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/provider_archive.h"
#include "backends/store/tree_memo.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct Name {
  std::string text;
  fs::file_type type;  // of the entry itself, even if it is a symlink
};

// Returns the entries of a directory by name, in the order of Go's filepath.Walk.
Result<std::vector<Name>> names_in(const fs::path& directory) {
  std::vector<Name> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    names.push_back({entry->path().filename().string(), entry->symlink_status(ignored).type()});
  }
  if (error) {
    return fail(Code::io_error, fmt::format("cannot search {}: {}", directory.string(), error.message()),
                "name a readable directory that contains provider packages");
  }
  std::sort(names.begin(), names.end(), [](const Name& left, const Name& right) { return left.text < right.text; });
  return names;
}

std::optional<LocalProvider> package(std::string_view version, std::string_view platform, fs::path path, bool packed) {
  auto read_version = ProviderVersion::parse(version);
  auto read_platform = Platform::parse(platform);
  if (!read_version || !read_platform) {
    return std::nullopt;
  }
  return LocalProvider{std::move(*read_version), std::move(*read_platform), std::move(path), packed};
}

std::optional<LocalProvider> archive(const fs::path& path, const std::string& type) {
  const std::string name = ascii::lower(path.filename().string());
  const std::string prefix = fmt::format("terraform-provider-{}_", type);
  constexpr std::string_view kSuffix = ".zip";
  if (name.size() < prefix.size() + kSuffix.size() || !name.starts_with(prefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  const auto parts =
      split(std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - kSuffix.size()), '_');
  return parts.size() < 3 ? std::nullopt : package(parts[0], fmt::format("{}_{}", parts[1], parts[2]), path, true);
}

Result<std::vector<std::string>> directories_in(const fs::path& directory) {
  MODLOCK_TRY(auto names, names_in(directory));
  std::erase_if(names, [](const Name& name) { return name.type != fs::file_type::directory; });
  return mapped(names, &Name::text);
}

Result<void> find_packages(const fs::path& directory, const ProviderAddress& provider, LocalProviders& found) {
  const auto add = [&](std::optional<LocalProvider> local) {
    if (local) {
      found[provider].push_back(std::move(*local));
    }
  };
  MODLOCK_TRY(const auto names, names_in(directory));
  for (const Name& name : names) {
    const fs::path path = directory / name.text;
    std::error_code ignored;
    if (name.type == fs::file_type::directory) {
      MODLOCK_TRY(const auto platforms, names_in(path));
      for (const Name& platform : platforms) {
        if (path_is_directory(path / platform.text)) {
          add(package(name.text, platform.text, path / platform.text, false));
        }
      }
    } else if (const auto status = fs::status(path, ignored);
               fs::exists(status) && status.type() != fs::file_type::directory) {
      add(archive(path, provider.type()));
    }
  }
  return {};
}

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

// The top-level files, for expect_provider_program().
std::vector<std::string> programs_in(const fs::path& directory) {
  auto names = names_in(directory).value_or(std::vector<Name>());
  std::erase_if(names, [](const Name& name) { return name.type == fs::file_type::directory; });
  return mapped(names, &Name::text);
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
    ProviderRelease release{.covers_all_platforms = false};
    for (const Platform& platform : platforms) {
      MODLOCK_TRY(const auto* package, find(provider, version, platform, context));
      MODLOCK_TRY(auto hashed, hash(provider, *package, context));
      hashed.recorded = {hashed.h1};
      release.packages.insert_or_assign(platform, std::move(hashed));
    }
    return release;
  }

  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override {
    MODLOCK_TRY(const auto* package, find(provider, version, platform, context));
    return package->is_packed ? send_file(package->path, sink)
                              : fail(Code::source_unsupported,
                                     fmt::format("{} is a directory instead of an archive", package->path.string()),
                                     "use a mirror that `providers mirror` of your client has written");
  }

 private:
  Result<const LocalProvider*> find(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform, const Context& context) {
    MODLOCK_TRY(const auto packages, packages_of(provider, context));
    const auto package = std::find_if(packages->begin(), packages->end(), [&](const LocalProvider& local) {
      return local.version == version && local.platform == platform;
    });
    return package == packages->end() ? not_available(provider, version, platform)
                                      : Result<const LocalProvider*>(&*package);
  }

  Result<const std::vector<LocalProvider>*> packages_of(const ProviderAddress& provider, const Context& context) {
    MODLOCK_TRY(context.check());
    std::call_once(is_read_, [this] { found_ = find_local_providers(directory_); });
    if (!found_) {
      return fail(found_.error());
    }
    static const std::vector<LocalProvider> kNone;
    const auto packages = found_->find(provider);
    return packages == found_->end() ? &kNone : &packages->second;
  }

  Result<ProviderPackage> hash(const ProviderAddress& provider, const LocalProvider& package, const Context& context) {
    if (package.is_packed) {
      return hash_archive(provider, package, context);
    }
    MODLOCK_TRY(expect_provider_program(programs_in(package.path), provider.type(), package.path.string()));
    return hash_installed(store_, package.path, {.rules = TreeRules::provider_package}, context)
        .map([](std::string h1) { return ProviderPackage{.h1 = std::move(h1)}; });
  }

  // Reading the archive twice is cheaper than inflating an archive with known hashes.
  Result<ProviderPackage> hash_archive(const ProviderAddress& provider, const LocalProvider& package,
                                       const Context& context) {
    MODLOCK_TRY(const auto sha256, sha256_file(package.path));
    return archives_.hashes_of(
        {.display = package.path.string(), .type = provider.type(), .zh = "zh:" + hex(sha256)},
        [&](BodySink& sink) { return send_file(package.path, sink); }, context);
  }

  const fs::path directory_;
  ProviderArchives& archives_;
  const Store& store_;
  std::once_flag is_read_;
  Result<LocalProviders> found_;
};

}  // namespace

Result<LocalProviders> find_local_providers(const fs::path& directory) {
  LocalProviders found;
  MODLOCK_TRY(const auto hosts, directories_in(directory));
  for (const std::string& host : hosts) {
    MODLOCK_TRY(const auto namespaces, directories_in(directory / host));
    for (const std::string& name_space : namespaces) {
      const fs::path path = directory / host / name_space;
      MODLOCK_TRY(const auto types, directories_in(path));
      for (const std::string& type : types) {
        if (const auto provider =
                ProviderAddress::parse(fmt::format("{}/{}/{}", host, name_space, type), kOpenTofuRegistry)) {
          MODLOCK_TRY(find_packages(path / type, *provider, found));
        }
      }
    }
  }
  return found;
}

std::unique_ptr<ProviderSource> make_filesystem_mirror(fs::path directory, ProviderArchives& archives,
                                                       const Store& store) {
  return std::make_unique<FilesystemMirror>(std::move(directory), archives, store);
}

}  // namespace modlock
