#include "backends/remote/registry_store.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/base/ascii.h"
#include "backends/base/mapped_file.h"
#include "backends/base/parallel.h"
#include "backends/remote/file_sink.h"

namespace modlock::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kParallel = 8;

class Push {
 public:
  Push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository, const Context& context)
      : layout_(layout), registry_(registry), repository_(repository), context_(context) {}

  Result<PushReport> run() {
    MODLOCK_TRY(const auto closures, layout_.closures());
    std::vector<Missing> missing;
    Closure providers;
    Closure missing_providers;
    std::set<std::string> present;  // manifests
    for (const NamedClosure& one : closures) {
      MODLOCK_TRY(const auto index, missing_index(one));
      providers.add(one.closure.providers);
      if (index) {
        missing.push_back({&one, *index});
        missing_providers.add(one.closure.providers);
      } else {
        for (const BundledPackage& package : one.closure.packages) {
          present.insert(package.manifest.digest);
        }
      }
    }
    report_.present = present.size();
    report_.providers = providers.providers.size();
    for (const BundledProvider& provider : missing_providers.providers) {
      MODLOCK_TRY(push_provider(provider));
    }
    if (!missing.empty()) {
      MODLOCK_TRY(push_config(repository_));
      MODLOCK_TRY(push_packages(missing, Known::ask));
    }
    for (const Missing& one : missing) {
      MODLOCK_TRY(push_closure(one));
    }
    return report_;
  }

 private:
  // A closure that the repository lacks.
  struct Missing {
    const NamedClosure* own;
    std::string index;
  };
  // Whether manifests that the repository has are sent again: it may have lost a blob of them.
  enum class Known { ask, send_again };

  // Returns the index that the repository needs for a closure: with the providers that it has there already, so that a
  // push without them does not remove them. nullopt: it has this index.
  Result<std::optional<std::string>> missing_index(const NamedClosure& one) {
    std::string index = write_closure(one.closure);
    MODLOCK_TRY(const auto known, registry_.find_manifest(repository_, one.tag, context_));
    if (known && *known != blob_of(index).digest) {
      const auto present = find_closure(registry_, repository_, one.tag, context_);
      if (!present && present.error().code != Code::source_invalid) {
        return fail(present.error());
      }
      if (present && *present) {
        Closure merged = one.closure;
        merged.add((*present)->providers);
        index = write_closure(merged);
      }
      if (index.size() > kManifestLimit) {
        return fail(Code::limit_exceeded,
                    fmt::format("the index {} would be larger than 4 MiB with the providers that \"{}\" has", one.tag,
                                repository_.display),
                    "delete the tag in the registry, and push again");
      }
    }
    return known == blob_of(index).digest ? std::nullopt : std::optional(std::move(index));
  }

  Result<void> push_closure(const Missing& one) {
    const std::string& tag = one.own->tag;
    MODLOCK_TRY(bool is_stored, registry_.push_manifest(repository_, tag, kImageIndex, one.index, context_));
    if (!is_stored) {
      MODLOCK_TRY(push_packages({one}, Known::send_again));
      MODLOCK_TRY(is_stored, registry_.push_manifest(repository_, tag, kImageIndex, one.index, context_));
    }
    return is_stored ? Result<void>() : lost(tag, repository_);
  }

  Result<void> push_packages(const std::vector<Missing>& closures, Known known) {
    std::map<std::string, BundledPackage> unique;  // by manifest
    for (const Missing& one : closures) {
      for (const BundledPackage& package : one.own->closure.packages) {
        unique.emplace(package.manifest.digest, package);
      }
    }
    std::vector<std::function<Result<bool>()>> uploads;
    std::vector<std::string> names;
    for (const auto& [digest, package] : unique) {
      names.push_back(package.source);
      uploads.emplace_back([this, known, &one = package] {
        return push_archive(repository_, one.layer, write_package_manifest(one.layer, one.h1), known);
      });
    }
    return run_all(uploads, names);
  }

  // Uploads a provider to its own repository. Platforms that only the repository has stay.
  Result<void> push_provider(const BundledProvider& provider) {
    MODLOCK_TRY(const auto repository, provider_repository(repository_, provider.address));
    std::string index = write_provider_index(provider);
    MODLOCK_TRY(const auto known, registry_.find_manifest(repository, provider.tag(), context_));
    if (known && *known != blob_of(index).digest) {
      MODLOCK_TRY(const auto present, registry_.manifest(repository, {.tag = provider.tag(), .digest = {}}, context_));
      index = merge_provider_indexes(index, present.body);
    }
    if (known == blob_of(index).digest) {
      report_.present += provider.archives.size();
      return {};
    }
    MODLOCK_TRY(push_config(repository));
    std::vector<std::function<Result<bool>()>> uploads;
    std::vector<std::string> names;
    for (const auto& [platform, archive] : provider.archives) {
      names.push_back(fmt::format("{} {} for {}", provider.address, provider.version, platform));
      uploads.emplace_back([this, &repository, &layer = archive.layer] {
        return push_archive(repository, layer, write_provider_manifest(layer), Known::ask);
      });
    }
    MODLOCK_TRY(run_all(uploads, names));
    MODLOCK_TRY(const bool is_stored,
                registry_.push_manifest(repository, provider.tag(), kImageIndex, index, context_));
    return is_stored ? Result<void>() : lost(provider.tag(), repository);
  }

  Result<void> run_all(const std::vector<std::function<Result<bool>()>>& uploads,
                       const std::vector<std::string>& names) {
    std::vector<Result<bool>> sent(uploads.size());
    std::atomic<std::size_t> done = 0;
    parallel_for(uploads.size(), kParallel, [&](std::size_t i) {
      sent[i] = uploads[i]();
      context_.progress->report(fmt::format("uploading {}", names[i]), ++done, uploads.size());
    });
    for (Result<bool>& one : sent) {
      MODLOCK_TRY(const bool is_sent, std::move(one));
      ++(is_sent ? report_.sent : report_.present);
    }
    return {};
  }

  Result<void> push_config(const oci::Repository& repository) {
    MODLOCK_TRY(registry_.push_blob(repository, blob_of(kEmptyConfig).digest, kEmptyConfig, context_));
    return {};
  }

  // Uploads a zip and its manifest. Returns whether they were sent.
  Result<bool> push_archive(const oci::Repository& repository, const Blob& layer, const std::string& manifest,
                            Known known) {
    const std::string digest = blob_of(manifest).digest;
    if (known == Known::ask) {
      MODLOCK_TRY(const auto found, registry_.find_manifest(repository, digest, context_));
      if (found) {
        return false;
      }
    }
    MODLOCK_TRY(const auto path, layout_.find(layer));
    MODLOCK_TRY(const auto file, MappedFile::open(path));
    MODLOCK_TRY(registry_.push_blob(repository, layer.digest, file.content(), context_));
    MODLOCK_TRY(bool is_stored, registry_.push_manifest(repository, digest, kImageManifest, manifest, context_));
    if (!is_stored) {  // it has lost a blob since, or never had it
      MODLOCK_TRY(registry_.upload_blob(repository, layer.digest, file.content(), context_));
      MODLOCK_TRY(registry_.upload_blob(repository, blob_of(kEmptyConfig).digest, kEmptyConfig, context_));
      MODLOCK_TRY(is_stored, registry_.push_manifest(repository, digest, kImageManifest, manifest, context_));
    }
    return is_stored ? Result<bool>(true) : lost(digest, repository);
  }

  static tl::unexpected<Error> lost(std::string_view reference, const oci::Repository& repository) {
    return fail(
        Code::bad_response,
        fmt::format("\"{}\" lacks a part of \"{}\" although it confirmed the upload", repository.display, reference),
        "contact the operator of the registry");
  }

  const Layout& layout_;
  oci::Registry& registry_;
  const oci::Repository& repository_;
  const Context& context_;
  PushReport report_;
};

// A blob of a repository, and its name in messages.
struct Download {
  oci::Repository repository;
  Blob blob;
  std::string name;
};

Result<void> download(oci::Registry& registry, const Download& wanted, FileSink& sink, const Context& context) {
  return registry.blob(
      wanted.repository, {wanted.blob.digest, wanted.blob.size}, wanted.name, sink,
      [&] { return sink.finish().map([](const Blob& found) { return found.digest; }); }, context);
}

}  // namespace

Result<oci::Repository> provider_repository(const oci::Repository& repository, std::string_view provider) {
  oci::Repository found = repository;
  const std::string below = fmt::format("/{}", ascii::lower(provider));
  found.name += below;
  found.display += below;
  return oci::is_repository_name(found.name)
             ? Result<oci::Repository>(std::move(found))
             : fail(Code::source_invalid,
                    fmt::format("a registry cannot hold the provider {}: \"{}\" is not the name of a repository",
                                provider, found.name),
                    "create the bundle without --providers, or use the provider from a host without a port");
}

Result<PushReport> push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository,
                        const Context& context) {
  return Push(layout, registry, repository, context).run();
}

Result<void> pull(const std::vector<NamedClosure>& closures, oci::Registry& registry, const oci::Repository& repository,
                  LayoutWriter& writer, const Context& context) {
  std::map<std::string, Download> unique;  // by digest
  for (const auto& [tag, closure] : closures) {
    for (const BundledPackage& package : closure.packages) {
      if (package.manifest != blob_of(write_package_manifest(package.layer, package.h1))) {
        return fail(
            Code::source_invalid,
            fmt::format("{} of \"{}\" is damaged: a manifest does not match its package", tag, repository.display),
            "push the bundle again");
      }
      unique.emplace(package.layer.digest, Download{repository, package.layer, "a module package"});
    }
    for (const BundledProvider& provider : closure.providers) {
      MODLOCK_TRY(const auto place, provider_repository(repository, provider.address));
      for (const auto& [platform, archive] : provider.archives) {
        unique.emplace(archive.layer.digest, Download{place, archive.layer, "a provider package"});
      }
    }
  }
  std::vector<const Download*> wanted;
  for (const auto& [digest, one] : unique) {
    wanted.push_back(&one);
  }
  std::vector<Result<Blob>> received(wanted.size());
  std::atomic<std::size_t> done = 0;
  parallel_for(wanted.size(), kParallel, [&](std::size_t i) {
    received[i] = writer.receive([&](FileSink& sink) { return download(registry, *wanted[i], sink, context); });
    context.progress->report(fmt::format("downloading {}", wanted[i]->blob.digest), ++done, wanted.size());
  });
  for (Result<Blob>& one : received) {
    MODLOCK_TRY(std::move(one));
  }
  return {};
}

Result<std::optional<Closure>> find_closure(oci::Registry& registry, const oci::Repository& repository,
                                            const std::string& tag, const Context& context) {
  const auto index = registry.manifest(repository, {.tag = tag, .digest = {}}, context);
  if (!index) {
    return index.error().code == Code::not_found ? Result<std::optional<Closure>>(std::nullopt) : fail(index.error());
  }
  MODLOCK_TRY(auto closure, read_closure(index->body, fmt::format("{} of \"{}\"", tag, repository.display)));
  return std::optional(std::move(closure));
}

Result<void> download(oci::Registry& registry, const oci::Repository& repository, const Blob& blob,
                      const fs::path& file, const Context& context) {
  FileSink sink(file);
  return download(registry, {repository, blob, fmt::format("the package {}", blob.digest)}, sink, context);
}

}  // namespace modlock::remote
