#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/git/tree_proof.h"
#include "backends/package/provider_archive.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "plugin/bundle/bundle.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::Blob;
using remote::BundledPackage;
using remote::BundledProvider;
using remote::Closure;
using remote::NamedClosure;

constexpr std::size_t kClosures = 32;  // requests for them, and in memory
constexpr std::size_t kPackages = 16;  // in files

// Puts the links of a package in place of the files that a zip has instead, and removes the digests of those files.
Result<void> restore_links(const fs::path& tree, const remote::Links& links, FileDigests& digests) {
  std::error_code error;
  for (const auto& [name, target] : links) {
    if (!fs::is_regular_file(fs::symlink_status(tree / name, error))) {
      return fail(Code::source_invalid, fmt::format("a bundled package has no file \"{}\" for a link", name),
                  "create the bundle again");
    }
  }
  for (const auto& [name, target] : links) {
    digests.erase((tree / name).string());
    fs::remove(tree / name, error);
    fs::create_symlink(target, tree / name, error);
    if (error) {
      return fail(Code::io_error,
                  fmt::format("cannot create the link {}: {}", (tree / name).string(), error.message()));
    }
  }
  return {};
}

Result<void> check_manifest(const Bundle& bundle, const Blob& manifest, const std::string& expected,
                            const std::string& provider = {}) {
  MODLOCK_TRY(const auto found, bundle.read(manifest, provider));
  return found == expected
             ? Result<void>()
             : fail(Code::source_invalid, fmt::format("the manifest {} does not match its package", manifest.digest),
                    "create the bundle again");
}

// Checks the manifest of a package, its blobs and its h1. Errors: those of Bundle and extract_package();
// SOURCE_INVALID (the manifest is another one).
Result<void> verify_package(const Bundle& bundle, const BundledPackage& package, const fs::path& work,
                            const Context& context) {
  MODLOCK_TRY(check_manifest(bundle, package.manifest, write_package_manifest(package)));
  MODLOCK_TRY(const auto zip, bundle.find(package.layer, {}, work / "layer"));
  MODLOCK_TRY(const auto trees, package.trees.digest.empty() ? Result<fs::path>(fs::path())
                                                             : bundle.find(package.trees, {}, work / "trees"));
  MODLOCK_TRY(extract_package(package, zip, trees, work / "tree", context));
  return {};
}

// Checks the manifest of an archive, its digest and its h1. Errors: those of Bundle and hash_provider_archive();
// HASH_MISMATCH.
Result<void> verify_archive(const Bundle& bundle, const BundledProvider& provider, const std::string& platform,
                            const fs::path& work, const Context& context) {
  const BundledProvider::Archive& archive = provider.archives.at(platform);
  const std::string display = fmt::format("{} {} for {}", provider.address, provider.version, platform);
  const std::string manifest = write_provider_manifest(archive.layer);
  MODLOCK_TRY(check_manifest(bundle, remote::blob_of(manifest), manifest, provider.address));
  MODLOCK_TRY(const auto file, bundle.find(archive.layer, provider.address, work / "layer"));
  MODLOCK_TRY(const auto hashes, hash_provider_archive(file, display, context));
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
  Verifier(const Bundle& bundle, const fs::path& work, const Context& context)
      : bundle_(bundle), work_(work), context_(context) {}

  Result<void> verify(const std::vector<NamedClosure>& closures) {
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
    for (const auto& [tag, closure] : closures) {
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
    }
    std::vector<Result<void>> results(checks.size());
    parallel_answers(results, kPackages, [&](std::size_t i) {
      const fs::path directory = work_ / random_hex(8);
      auto result = make_directories(directory);
      result = result ? checks[i](directory) : std::move(result);
      const auto removed = remove_tree(directory);
      context_.progress->report("checking packages", ++done_, known_.size() + configs_.size() + archives_.size());
      return result ? removed : std::move(result);
    });
    return results.empty() ? Result<void>() : std::move(results.front());
  }

 private:
  const Bundle& bundle_;
  const fs::path& work_;
  const Context& context_;
  std::set<std::string> known_;    // manifests of packages
  std::set<std::string> configs_;  // of their repository (an empty name) and of those of providers
  std::set<BundledProvider> archives_;
  std::atomic<std::size_t> done_ = 0;
};

}  // namespace

fs::path trees_file(const fs::path& package) {
  return package.parent_path() / "trees";
}

Result<ExtractedPackage> extract_package(const remote::BundledPackage& package, const fs::path& zip,
                                         const fs::path& trees, const fs::path& directory, const Context& context) {
  MODLOCK_TRY(make_directories(directory));
  auto digests =
      unpack_archive(zip, ArchiveFormat::zip, directory, fmt::format("the package {}", package.layer.digest), context);
  if (!digests && digests.error().code == Code::bad_response) {
    // It has its digest, so no transfer damaged it.
    digests.error().code = Code::source_invalid;
    digests.error().hint = "create the bundle again";
  }
  MODLOCK_TRY(digests);
  MODLOCK_TRY(restore_links(directory, package.links, *digests));
  MODLOCK_TRY(const auto entries, list_tree(directory));
  MODLOCK_TRY(refuse_override(entries));
  MODLOCK_TRY(const auto summary, summarise_entries(entries, *digests, context));
  if (const std::string h1 = summary.h1(); h1 != package.h1) {
    return fail(
        Code::hash_mismatch,
        fmt::format("the package {} has other content: expected {}, got {}", package.layer.digest, package.h1, h1),
        "create the bundle again");
  }
  ExtractedPackage extracted{.modes = hash_modes(entries)};
  if (const std::string commit = commit_of(package); !trees.empty() && !commit.empty()) {
    MODLOCK_TRY(const auto objects, MappedFile::open(trees));
    auto proof = git::prove_tree(objects.content(), commit, directory, entries);
    if (!proof) {
      Error error = std::move(proof.error());
      error.message = fmt::format("the package {} with the trees {}: {}", package.layer.digest, package.trees.digest,
                                  error.message);
      error.hint = "create the bundle again";
      return fail(std::move(error));
    }
    extracted.is_proven = *proof == git::Proof::content;
  }
  return extracted;
}

Result<void> read_closures(Bundle& bundle, Verify verify, const fs::path& work, const remote::ClosureSink& sink,
                           const Context& context) {
  MODLOCK_TRY(const auto tags, bundle.tags());
  Verifier verifier(bundle, work, context);
  for (std::size_t begin = 0; begin < tags.size(); begin += kClosures) {
    MODLOCK_TRY(context.check());
    std::vector<Result<std::optional<Closure>>> found(std::min(kClosures, tags.size() - begin));
    parallel_for(found.size(), kClosures, [&](std::size_t i) { found[i] = bundle.closure(tags[begin + i]); });
    std::vector<NamedClosure> closures;
    for (std::size_t i = 0; i < found.size(); ++i) {
      MODLOCK_TRY(auto closure, std::move(found[i]));
      if (closure) {
        closures.push_back({tags[begin + i], std::move(*closure)});
      }
    }
    MODLOCK_TRY(verify == Verify::yes ? verifier.verify(closures) : Result<void>());
    std::ranges::for_each(closures, sink);
  }
  return {};
}

}  // namespace modlock
