#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/package/provider_archive.h"
#include "backends/remote/registry_store.h"
#include "plugin/engine/bundle.h"
#include "plugin/engine/bundle_reader.h"
#include "plugin/engine/engine.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::Blob;
using remote::BundledPackage;
using remote::BundledProvider;
using remote::Closure;
using remote::NamedClosure;
using remote::TaggedClosure;

constexpr std::size_t kChecks = 8;

// A bundle whose blobs are checked: a layout, or a repository of a registry. May be used from any thread.
class CheckedBundle {
 public:
  virtual ~CheckedBundle() = default;
  // Returns the closures, which a registry lists without their indexes. Errors: those of oci::Registry::tags().
  virtual Result<std::vector<TaggedClosure>> listed() const = 0;
  // Returns one of them; nullopt: it was deleted since. Errors: those of Layout::closure() or remote::find_closure().
  virtual Result<std::optional<Closure>> closure(const TaggedClosure& one) const = 0;
  // Returns the content of a manifest with this digest. `provider` is empty for a module package. Errors: those of
  // Layout::read() or oci::Registry::manifest().
  virtual Result<std::string> read(const Blob& manifest, const std::string& provider) const = 0;
  // Returns the file of a blob with this digest, which may be `download`, a new one. Errors: those of Layout::find() or
  // remote::download().
  virtual Result<fs::path> find(const Blob& layer, const std::string& provider, const fs::path& download) const = 0;
};

class CheckedLayout final : public CheckedBundle {
 public:
  explicit CheckedLayout(const remote::Layout& layout) : layout_(layout) {}

  Result<std::vector<TaggedClosure>> listed() const override { return layout_.listed(); }
  Result<std::optional<Closure>> closure(const TaggedClosure& one) const override { return layout_.closure(one); }
  Result<std::string> read(const Blob& manifest, const std::string& /*provider*/) const override {
    return layout_.read(manifest);
  }
  Result<fs::path> find(const Blob& layer, const std::string& /*provider*/,
                        const fs::path& /*download*/) const override {
    return layout_.find(layer);
  }

 private:
  const remote::Layout& layout_;
};

class CheckedRepository final : public CheckedBundle {
 public:
  CheckedRepository(oci::Registry& registry, const oci::Repository& repository, const Context& context)
      : registry_(registry), repository_(repository), context_(context) {}

  Result<std::vector<TaggedClosure>> listed() const override {
    MODLOCK_TRY(const auto listing, registry_.tags(repository_, context_));
    const std::set<std::string> tags(listing.names.begin(), listing.names.end());
    std::vector<TaggedClosure> closures;
    for (const std::string& tag : tags) {
      if (tag.starts_with("closure-")) {
        closures.push_back({tag, {}});
      }
    }
    return closures;
  }
  Result<std::optional<Closure>> closure(const TaggedClosure& one) const override {
    return remote::find_closure(registry_, repository_, one.tag, context_);
  }
  Result<std::string> read(const Blob& manifest, const std::string& provider) const override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    MODLOCK_TRY(auto found, registry_.manifest(repository, {.tag = {}, .digest = manifest.digest}, context_));
    return std::move(found.body);
  }
  Result<fs::path> find(const Blob& layer, const std::string& provider, const fs::path& download) const override {
    MODLOCK_TRY(const auto repository, repository_of(provider));
    constexpr std::chrono::seconds kSmallDownload{60};
    const auto time = download_time(layer.size, kSmallDownload);
    Context limited = context_;
    const auto deadline = std::chrono::steady_clock::now() + time;
    limited.deadline = limited.deadline ? std::min(*limited.deadline, deadline) : deadline;
    auto done = remote::download(registry_, repository, layer, download, limited);
    if (!done && done.error().code == Code::deadline_exceeded && context_.check()) {
      return fail(Code::timeout,
                  fmt::format("\"{}\" did not send {} within {} s", repository.display, layer.digest, time.count()));
    }
    MODLOCK_TRY(done);
    return download;
  }

 private:
  Result<oci::Repository> repository_of(const std::string& provider) const {
    return provider.empty() ? repository_ : remote::provider_repository(repository_, provider);
  }

  oci::Registry& registry_;
  const oci::Repository& repository_;
  const Context& context_;
};

Result<void> check_manifest(const CheckedBundle& bundle, const Blob& manifest, const std::string& expected,
                            const std::string& provider = {}) {
  MODLOCK_TRY(const auto found, bundle.read(manifest, provider));
  return found == expected
             ? Result<void>()
             : fail(Code::source_invalid, fmt::format("the manifest {} does not match its package", manifest.digest),
                    "create the bundle again");
}

// Checks the manifest of a package, its blobs and its h1. Errors: those of CheckedBundle and extract_package();
// SOURCE_INVALID (the manifest is another one).
Result<void> verify_package(const CheckedBundle& bundle, const BundledPackage& package, const fs::path& work,
                            const Context& context) {
  MODLOCK_TRY(check_manifest(bundle, package.manifest, write_package_manifest(package)));
  MODLOCK_TRY(const auto zip, bundle.find(package.layer, {}, work / "layer"));
  MODLOCK_TRY(const auto trees, package.trees.digest.empty() ? Result<fs::path>(fs::path())
                                                             : bundle.find(package.trees, {}, work / "trees"));
  MODLOCK_TRY(extract_package(package, zip, trees, work / "tree", context));
  return {};
}

// Checks the manifest of an archive, its digest and its h1. Errors: those of CheckedBundle and hash_provider_archive();
// HASH_MISMATCH.
Result<void> verify_archive(const CheckedBundle& bundle, const BundledProvider& provider, const std::string& platform,
                            const fs::path& work, const Context& context) {
  const BundledProvider::Archive& archive = provider.archives.at(platform);
  const std::string display = fmt::format("{} {} for {}", provider.address, provider.version, platform);
  const std::string manifest = write_provider_manifest(archive.layer);
  MODLOCK_TRY(check_manifest(bundle, remote::blob_of(manifest), manifest, provider.address));
  MODLOCK_TRY(const auto file, bundle.find(archive.layer, provider.address, work / "layer"));
  MODLOCK_TRY(const auto hashes, hash_provider_archive(file, display, work, context));
  return hashes.h1 == archive.h1
             ? Result<void>()
             : fail(Code::hash_mismatch,
                    fmt::format("{} has other content: expected {}, got {}", display, archive.h1, hashes.h1),
                    "create the bundle again");
}

// Checks each package, each archive, and the config of their manifests once.
class Verifier {
 public:
  // `work` is a directory for files, which are removed.
  Verifier(const CheckedBundle& bundle, const fs::path& work, const Context& context)
      : bundle_(bundle), work_(work), context_(context) {}

  Result<void> verify(const Closure& closure) {
    using Check = std::function<Result<void>(const fs::path& work)>;
    std::vector<Check> checks;
    const auto check_config = [&](const std::string& provider) {
      if (configs_.insert(provider).second) {
        checks.emplace_back([this, provider](const fs::path& directory) -> Result<void> {
          MODLOCK_TRY(bundle_.find(remote::blob_of(remote::kEmptyConfig), provider, directory / "config"));
          return {};
        });
      }
    };
    for (const BundledPackage& package : closure.packages) {
      check_config({});
      // The digest also stands for the source, the origin and the directory of the package.
      if (known_.insert(package.manifest.digest + remote::blob_of(write_package_manifest(package)).digest).second) {
        checks.emplace_back(
            [&](const fs::path& directory) { return verify_package(bundle_, package, directory, context_); });
      }
    }
    for (const BundledProvider& provider : closure.providers) {
      check_config(provider.address);
      for (const auto& [platform, archive] : provider.archives) {
        if (archives_.insert({provider.address, provider.version, {{platform, archive}}}).second) {
          checks.emplace_back([&, name = platform](const fs::path& directory) {
            return verify_archive(bundle_, provider, name, directory, context_);
          });
        }
      }
    }
    std::vector<Result<void>> results(checks.size());
    std::atomic<bool> has_failed = false;
    parallel_for(checks.size(), kChecks, [&](std::size_t i) {
      if (has_failed) {
        return;
      }
      const fs::path directory = work_ / random_hex(8);
      results[i] = make_directories(directory);
      results[i] = results[i] ? checks[i](directory) : std::move(results[i]);
      const auto removed = remove_tree(directory);
      results[i] = results[i] ? removed : std::move(results[i]);
      has_failed = has_failed || !results[i];
      context_.progress->report("checking packages", ++done_, known_.size() + configs_.size() + archives_.size());
    });
    const auto failed = std::find_if(results.begin(), results.end(), [](const auto& result) { return !result; });
    return failed == results.end() ? Result<void>() : std::move(*failed);
  }

 private:
  const CheckedBundle& bundle_;
  const fs::path& work_;
  const Context& context_;
  std::set<std::string> known_;    // manifests of packages
  std::set<std::string> configs_;  // of their repository (an empty name) and of those of providers
  std::set<BundledProvider> archives_;
  std::atomic<std::size_t> done_ = 0;
};

// Reads the closures of a bundle one at a time, so that only one is in memory. Errors: those of CheckedBundle; with
// `verify` also those of verify_package() and verify_archive().
Result<void> read_closures(const CheckedBundle& bundle, bool verify, const fs::path& work,
                           const remote::ClosureSink& sink, const Context& context) {
  MODLOCK_TRY(const auto listed, bundle.listed());
  Verifier verifier(bundle, work, context);
  for (const TaggedClosure& one : listed) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(auto closure, bundle.closure(one));
    if (closure) {
      MODLOCK_TRY(verify ? verifier.verify(*closure) : Result<void>());
      sink({one.tag, std::move(*closure)});
    }
  }
  return {};
}

}  // namespace

Result<void> Engine::read_bundle(const std::string& name, bool verify, const remote::ClosureSink& sink,
                                 Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto work, store().work_directory());
  if (!name.starts_with("oci://")) {
    MODLOCK_TRY(const auto bundle, OpenBundle::open(name, store(), context));
    return read_closures(CheckedLayout(bundle->layout()), verify, work, sink, context);
  }
  MODLOCK_TRY(const auto repository, bundle_repository(name, options().plain_http));
  const auto network = this->network(run);
  const auto registry = network->oci_registry();
  bool is_empty = true;
  const auto count = [&](const NamedClosure& closure) {
    is_empty = false;
    sink(closure);
  };
  auto read = read_closures(CheckedRepository(*registry, repository, context), verify, work, count, context);
  if (read && is_empty) {
    return fail(Code::not_found, fmt::format("\"{}\" has no bundle", repository.display),
                fmt::format("push one: tofu-modlock bundle push {}", repository.display));
  }
  return read ? std::move(read)
              : fail(network->with_warnings(with_plain_http_hint(std::move(read.error()), repository)));
}

}  // namespace modlock
