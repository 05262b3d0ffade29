#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "backends/base/files.h"
#include "backends/git/tree_proof.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "plugin/bundle/bundle.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

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

}  // namespace modlock
