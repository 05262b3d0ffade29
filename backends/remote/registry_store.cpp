#include "backends/remote/registry_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"

namespace modlock::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kParallel = 8;
constexpr std::size_t kClosures = 32;  // requests for indexes

// Returns the layers of the manifest of a package.
std::vector<Blob> blobs_of(const BundledPackage& package) {
  return package.trees.digest.empty() ? std::vector{package.layer} : std::vector{package.layer, package.trees};
}

class Push {
 public:
  Push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository, const Context& context,
       const std::optional<oci::Repository>& other, Presence presence)
      : layout_(layout), registry_(registry), repository_(repository), context_(context), presence_(presence) {
    if (other && other->authority == repository.authority && other->name != repository.name) {
      other_ = other->name;
    }
  }

  // Closures are read in groups whose indexes have at most 4 MiB, because all of them may need much memory.
  Result<PushReport> run() {
    const std::vector<TaggedClosure>& listed = layout_.listed();
    for (std::size_t begin = 0, end = 0; begin < listed.size(); begin = end) {
      MODLOCK_TRY(context_.check());
      for (std::uint64_t bytes = 0;
           end < listed.size() && (end == begin || bytes + listed[end].index.size <= kManifestLimit); ++end) {
        bytes += listed[end].index.size;
      }
      std::vector<Result<Asked>> group(end - begin);
      parallel_answers(group, kClosures, [&](std::size_t i) { return ask(listed[begin + i]); });
      std::vector<Asked> missing;
      for (Result<Asked>& answer : group) {
        MODLOCK_TRY(auto asked, std::move(answer));
        for (const BundledProvider& provider : asked.closure.providers) {
          versions_.insert({provider.address, provider.version});
        }
        if (asked.index) {
          missing.push_back(std::move(asked));
          continue;
        }
        for (const BundledPackage& package : asked.closure.packages) {
          report_.present += std::size_t{packages_.insert(package.manifest.digest).second};
        }
      }
      MODLOCK_TRY(push_missing(missing));
    }
    report_.providers = versions_.size();
    return report_;
  }

 private:
  // A closure, and its index if the repository lacks it.
  struct Asked {
    std::string tag;
    Closure closure;
    std::optional<std::string> index;
  };
  struct Upload {
    std::string name;  // for messages
    std::function<Result<bool>()> run;
  };
  // Whether manifests that the repository has are sent again: it may have lost a blob of them.
  enum class Known { ask, send_again };

  bool is_trusted(const std::optional<std::string>& known, const std::string& text) const {
    return presence_ == Presence::trusted && known == blob_of(text).digest;
  }

  // May be called from any thread.
  Result<Asked> ask(const TaggedClosure& one) {
    MODLOCK_TRY(auto closure, layout_.closure(one));
    MODLOCK_TRY(auto index, missing_index(one.tag, closure));
    return Asked{one.tag, std::move(closure), std::move(index)};
  }

  // Returns the index that the repository needs for a closure: with the providers that it has there already, so that a
  // push without them does not remove them. nullopt: it has this index, and is trusted.
  Result<std::optional<std::string>> missing_index(const std::string& tag, const Closure& closure) {
    std::string index = write_closure(closure);
    MODLOCK_TRY(const auto known, registry_.find_manifest(repository_, tag, context_));
    if (known && *known != blob_of(index).digest) {
      const auto present = find_closure(registry_, repository_, tag, context_);
      if (!present && present.error().code != Code::source_invalid) {
        return fail(present.error());
      }
      if (present && *present) {
        Closure merged = closure;
        merged.add((*present)->providers);
        index = write_closure(merged);
      }
      if (index.size() > kManifestLimit) {
        return fail(Code::limit_exceeded,
                    fmt::format("the index {} would be larger than 4 MiB with the providers that \"{}\" has", tag,
                                repository_.display),
                    "delete the tag in the registry, and push again");
      }
    }
    return is_trusted(known, index) ? std::nullopt : std::optional(std::move(index));
  }

  Result<void> push_missing(const std::vector<Asked>& missing) {
    if (missing.empty()) {
      return {};
    }
    Closure providers;
    for (const Asked& one : missing) {
      providers.add(one.closure.providers);
    }
    for (BundledProvider& provider : providers.providers) {
      std::erase_if(provider.archives, [&](const auto& archive) {
        return !archives_.insert({provider.address, provider.version, archive.first}).second;
      });
      MODLOCK_TRY(provider.archives.empty() ? Result<void>() : push_provider(provider));
    }
    MODLOCK_TRY(std::exchange(has_config_, true) ? Result<void>() : push_config(repository_));
    MODLOCK_TRY(push_packages(missing, Known::ask));
    const auto push_index = [&](const Asked& one) {
      return registry_.push_manifest(repository_, one.tag, kImageIndex, *one.index, context_);
    };
    std::vector<Result<bool>> stored(missing.size());
    parallel_answers(stored, kClosures, [&](std::size_t i) { return push_index(missing[i]); });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      MODLOCK_TRY(bool is_stored, std::move(stored[i]));
      if (!is_stored) {
        MODLOCK_TRY(push_packages({&missing[i], 1}, Known::send_again));
        MODLOCK_TRY(is_stored, push_index(missing[i]));
      }
      if (!is_stored) {
        return lost(missing[i].tag, repository_);
      }
    }
    return {};
  }

  // Uploads the packages of closures that no earlier one has, or all of them again.
  Result<void> push_packages(std::span<const Asked> closures, Known known) {
    std::map<std::string, const BundledPackage*> unique;  // by manifest
    for (const Asked& one : closures) {
      for (const BundledPackage& package : one.closure.packages) {
        if (packages_.insert(package.manifest.digest).second || known == Known::send_again) {
          unique.emplace(package.manifest.digest, &package);
        }
      }
    }
    std::set<std::string> layers;
    std::vector<Upload> first;  // of each layer, so that it is not sent twice at the same time
    std::vector<Upload> others;
    for (const auto& [digest, package] : unique) {
      std::vector<Upload>& uploads = layers.insert(package->layer.digest).second ? first : others;
      uploads.push_back({package->source, [this, known, &one = *package] {
                           return push_archive(repository_, blobs_of(one), one.tag(), write_package_manifest(one),
                                               known);
                         }});
    }
    MODLOCK_TRY(run_all(first));
    return run_all(others);
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
    if (is_trusted(known, index)) {
      report_.present += provider.archives.size();
      return {};
    }
    MODLOCK_TRY(push_config(repository));
    std::vector<Upload> uploads;
    for (const auto& [platform, archive] : provider.archives) {
      uploads.push_back({fmt::format("{} {} for {}", provider.address, provider.version, platform),
                         [this, &repository, &layer = archive.layer] {
                           const std::string manifest = write_provider_manifest(layer);
                           return push_archive(repository, {layer}, blob_of(manifest).digest, manifest, Known::ask);
                         }});
    }
    MODLOCK_TRY(run_all(uploads));
    MODLOCK_TRY(const bool is_stored,
                registry_.push_manifest(repository, provider.tag(), kImageIndex, index, context_));
    return is_stored ? Result<void>() : lost(provider.tag(), repository);
  }

  Result<void> run_all(const std::vector<Upload>& uploads) {
    std::vector<Result<bool>> sent(uploads.size());
    std::atomic<std::size_t> done = 0;
    parallel_answers(sent, kParallel, [&](std::size_t i) {
      auto is_new = uploads[i].run();
      context_.progress->report(fmt::format("uploading {}", uploads[i].name), ++done, uploads.size());
      return is_new;
    });
    for (Result<bool>& one : sent) {
      MODLOCK_TRY(const bool is_sent, std::move(one));
      ++(is_sent ? report_.sent : report_.present);
    }
    return {};
  }

  Result<void> push_config(const oci::Repository& repository) {
    MODLOCK_TRY(
        registry_.push_blob(repository, blob_of(kEmptyConfig).digest, kEmptyConfig, context_, other_of(repository)));
    return {};
  }

  // Returns the name of the repository that may have the blobs of `repository`, which is that of the bundle or of a
  // provider; empty: none.
  std::string other_of(const oci::Repository& repository) const {
    return other_.empty() ? "" : other_ + repository.name.substr(repository_.name.size());
  }

  // Uploads blobs, and their manifest under a tag or its digest. Returns whether anything was sent.
  Result<bool> push_archive(const oci::Repository& repository, const std::vector<Blob>& blobs,
                            const std::string& reference, const std::string& manifest, Known known) {
    bool is_found = false;
    if (known == Known::ask) {
      MODLOCK_TRY(const auto found, registry_.find_manifest(repository, reference, context_));
      is_found = found && (found->empty() || *found == blob_of(manifest).digest);
      if (is_found && presence_ == Presence::trusted) {
        return false;
      }
    }
    // Returns whether the blob was sent.
    const auto upload = [&](const Blob& blob, bool is_known_to_miss) -> Result<bool> {
      MODLOCK_TRY(const auto path, layout_.find(blob));
      MODLOCK_TRY(const auto file, MappedFile::open(path));
      if (is_known_to_miss) {
        MODLOCK_TRY(registry_.upload_blob(repository, blob.digest, file.content(), context_));
        return true;
      }
      return registry_.push_blob(repository, blob.digest, file.content(), context_, other_of(repository));
    };
    const Blob* sent = nullptr;
    for (const Blob& blob : blobs) {
      MODLOCK_TRY(const bool is_new, upload(blob, false));
      sent = is_new ? &blob : sent;
    }
    if (is_found && sent == nullptr) {
      return false;
    }
    const auto send_again = [&]() -> Result<void> {
      for (const Blob& blob : blobs) {
        MODLOCK_TRY(upload(blob, true));
      }
      return registry_.upload_blob(repository, blob_of(kEmptyConfig).digest, kEmptyConfig, context_);
    };
    // Some registries confirm blobs that they do not store, and store manifests without them. One request per push
    // finds this.
    if (sent != nullptr && !is_probed_.exchange(true)) {
      MODLOCK_TRY(bool is_present, registry_.has_blob(repository, sent->digest, context_));
      if (!is_present) {
        MODLOCK_TRY(send_again());
        MODLOCK_TRY(is_present, registry_.has_blob(repository, sent->digest, context_));
      }
      if (!is_present) {
        return lost(reference, repository);
      }
    }
    MODLOCK_TRY(bool is_stored, registry_.push_manifest(repository, reference, kImageManifest, manifest, context_));
    if (!is_stored) {  // it has lost a blob since, or never had it
      MODLOCK_TRY(send_again());
      MODLOCK_TRY(is_stored, registry_.push_manifest(repository, reference, kImageManifest, manifest, context_));
    }
    return is_stored ? Result<bool>(true) : lost(reference, repository);
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
  const Presence presence_;
  std::string other_;  // the name of a repository with the same blobs; empty: none is known
  // Handled so far.
  bool has_config_ = false;
  std::atomic<bool> is_probed_ = false;
  std::set<std::string> packages_;  // by manifest
  std::set<std::tuple<std::string, std::string, std::string>> archives_;
  std::set<std::pair<std::string, std::string>> versions_;
  PushReport report_;
};

// A blob of a repository, its name in messages, and the context of the request.
struct Download {
  oci::Repository repository;
  Blob blob;
  std::string name;
  const Context& context;
};

// Returns the manifest or index with this tag; nullopt: there is none.
Result<std::optional<std::string>> find_tag(oci::Registry& registry, const oci::Repository& repository,
                                            const std::string& tag, const Context& context) {
  auto found = registry.manifest(repository, {.tag = tag, .digest = {}}, context);
  if (!found && found.error().code == Code::not_found) {
    return std::nullopt;
  }
  return std::move(found).map([](oci::Manifest manifest) { return std::optional(std::move(manifest.body)); });
}

Result<void> download(oci::Registry& registry, const Download& wanted, FileSink& sink) {
  auto received =
      registry.blob(wanted.repository, {wanted.blob.digest, wanted.blob.size}, wanted.name, sink, wanted.context);
  if (!received && received.error().code == Code::not_found) {
    received.error().hint = "upload it again with " + tofu_modlock("bundle", "push", "ADDRESS", "--check");
  }
  return received;
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
                        const Context& context, const std::optional<oci::Repository>& other, Presence presence) {
  return Push(layout, registry, repository, context, other, presence).run();
}

Result<void> pull(std::vector<WantedClosure> closures, oci::Registry& registry, const oci::Repository& repository,
                  LayoutWriter& writer) {
  std::map<std::string, Download> unique;  // by digest
  const auto add = [&](Download one) {
    if (!writer.has(one.blob)) {
      unique.emplace(one.blob.digest, std::move(one));
    }
  };
  for (const auto& [named, context] : closures) {
    const auto& [tag, closure] = named;
    for (const BundledPackage& package : closure.packages) {
      if (package.manifest != blob_of(write_package_manifest(package))) {
        return fail(
            Code::source_invalid,
            fmt::format("{} of \"{}\" is damaged: a manifest does not match its package", tag, repository.display),
            "push the bundle again");
      }
      for (const Blob& blob : blobs_of(package)) {
        add({repository, blob, "a module package", *context});
      }
    }
    for (const BundledProvider& provider : closure.providers) {
      MODLOCK_TRY(const auto place, provider_repository(repository, provider.address));
      for (const auto& [platform, archive] : provider.archives) {
        add({place, archive.layer, "a provider package", *context});
      }
    }
  }
  const auto wanted = mapped(unique, [](const auto& one) { return &one.second; });
  std::vector<Result<Blob>> received(wanted.size());
  std::atomic<std::size_t> done = 0;
  parallel_answers(received, kParallel, [&](std::size_t i) {
    auto blob = writer.receive([&](FileSink& sink) { return download(registry, *wanted[i], sink); });
    wanted[i]->context.progress->report(fmt::format("downloading {}", wanted[i]->blob.digest), ++done, wanted.size());
    return blob;
  });
  for (Result<Blob>& one : received) {
    MODLOCK_TRY(std::move(one));
  }
  for (WantedClosure& one : closures) {
    MODLOCK_TRY(writer.add_closure(std::move(one.closure)));
  }
  return {};
}

Result<std::optional<Closure>> find_closure(oci::Registry& registry, const oci::Repository& repository,
                                            const std::string& tag, const Context& context) {
  MODLOCK_TRY(const auto index, find_tag(registry, repository, tag, context));
  if (!index) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto closure, read_closure(*index, fmt::format("{} of \"{}\"", tag, repository.display)));
  return std::optional(std::move(closure));
}

Result<std::optional<BundledPackage>> find_package(oci::Registry& registry, const oci::Repository& repository,
                                                   const BundledPackage& wanted, const Context& context) {
  const std::string tag = wanted.tag();
  MODLOCK_TRY(const auto manifest, find_tag(registry, repository, tag, context));
  if (!manifest) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto package, read_package_manifest(*manifest, fmt::format("{} of \"{}\"", tag, repository.display)));
  if (package.source != wanted.package_source() || package.origin != wanted.origin || package.h1 != wanted.h1) {
    return fail(
        Code::source_invalid,
        fmt::format("{} of \"{}\" is damaged: it is the package of another lock entry", tag, repository.display),
        "delete the tag in the registry, and push again");
  }
  package.source = wanted.source;
  return std::optional(std::move(package));
}

Result<void> download(oci::Registry& registry, const oci::Repository& repository, const Blob& blob,
                      const fs::path& file, const Context& context) {
  FileSink sink(file);
  MODLOCK_TRY(download(registry, {repository, blob, fmt::format("the package {}", blob.digest), context}, sink));
  MODLOCK_TRY(sink.close());
  return {};
}

}  // namespace modlock::remote
