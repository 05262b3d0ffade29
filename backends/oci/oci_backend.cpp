#include "backends/oci/oci_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/parallel.h"
#include "backends/oci/manifest.h"
#include "backends/oci/reference.h"
#include "backends/oci/registry.h"
#include "backends/package/package_download.h"
#include "backends/tag_listing.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace oci;
namespace fs = std::filesystem;

constexpr std::size_t kParallel = 8;

// Returns the text that is parsed as the version of a tag: "_" after the prefix is "+".
Tag to_tag(const std::string& name, std::string_view prefix) {
  Tag tag{.name = name, .id = {}, .ref = name, .version_text = name};
  std::replace(tag.version_text.begin() + static_cast<std::ptrdiff_t>(std::min(prefix.size(), name.size())),
               tag.version_text.end(), '_', '+');
  return tag;
}

class OciBackend final : public BackendCore {
 public:
  OciBackend(HttpClient& http, Credentials& credentials, std::vector<std::string> token_realms)
      : registry_(http, credentials, std::move(token_realms)) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::oci; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    MODLOCK_TRY(const auto address, read_address(source));
    MODLOCK_TRY(const auto found, registry_.tags(address.repository, context));
    std::vector<Tag> tags;
    std::vector<SkippedTag> nameless;
    for (const std::string& name : found.names) {
      if (is_tag_name(name)) {
        tags.push_back(to_tag(name, tag_prefix));
      } else {
        nameless.push_back({printable_address(name), "not a valid tag name"});
      }
    }
    Listing listing = list_tags(std::move(tags), tag_prefix, found.fetched_at);
    listing.skipped.insert(listing.skipped.end(), nameless.begin(), nameless.end());
    MODLOCK_TRY(add_ids_of_equal_versions(listing.versions, [&](const ListedVersion& version) {
      return registry_.digest_of(address.repository, version.tag, context);
    }));
    merge_equal_versions(listing, "digest");
    return listing;
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    MODLOCK_TRY(const auto address, read_address(source));
    const Reference& reference = address.reference;
    if (!reference.digest.empty()) {
      return Pin{reference.digest, ""};
    }
    auto digest = registry_.digest_of(address.repository, reference.tag, context);
    return digest ? Result<Pin>(Pin{std::move(*digest), reference.tag}) : fail(std::move(digest.error()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const fs::path& parent, const Context& context) override {
    const auto address = read_address(source);
    if (!address) {
      return std::vector<Result<FetchedTree>>(requests.size(), fail(address.error()));
    }
    std::vector<Result<FetchedTree>> trees(requests.size());
    parallel_for(requests.size(), kParallel,
                 [&](std::size_t i) { trees[i] = fetch_one(*address, requests[i], parent, context); });
    return trees;
  }

  std::string hash_scheme() const override { return "oci"; }

 private:
  Result<FetchedTree> fetch_one(const Address& address, const FetchRequest& request, const fs::path& parent,
                                const Context& context) {
    Reference reference = address.reference;
    if (!request.id.empty()) {
      reference = {.tag = {}, .digest = request.id};
    } else if (!request.ref.empty()) {
      reference = {.tag = request.ref, .digest = {}};
    }
    const Repository& repository = address.repository;
    const std::string what = fmt::format("\"{}\" of \"{}\"", escape_controls(reference.text()), repository.display);
    MODLOCK_TRY(check(reference, what));
    MODLOCK_TRY(const auto manifest, registry_.manifest(repository, reference, context));
    MODLOCK_TRY(const auto layer, read_manifest(manifest.content_type, manifest.body, what));
    std::error_code ignored;  // the path is made absolute only for messages
    PackageDownload package(
        fs::absolute(parent, ignored),
        {.display = fmt::format("{}@{}", repository.display, layer.digest), .format = ArchiveFormat::zip}, context);
    MODLOCK_TRY(registry_.blob(repository, layer, "the module package", package, context));
    MODLOCK_TRY(package.finish());
    return package.unpack().map([&](FetchedTree tree) {
      tree.id = manifest.digest;
      tree.ref = reference.tag;
      tree.claimed = layer.created;
      return tree;
    });
  }

  // Ids come from lock files and tags from listings: neither may be more than one path segment of a URL.
  static Result<void> check(const Reference& reference, const std::string& what) {
    if (reference.digest.empty()) {
      return is_tag_name(reference.tag) ? Result<void>()
                                        : fail(Code::source_invalid, fmt::format("{} is not a valid tag", what),
                                               "write a tag of the repository");
    }
    return check_digest(reference.digest, "requested " + what,
                        {.code = Code::source_invalid,
                         .message = fmt::format("{} is not a valid digest", what),
                         .hint = "expected \"sha256:\" and 64 lower-case hexadecimal digits"});
  }

  Registry registry_;
};

}  // namespace

std::unique_ptr<BackendCore> make_oci_backend(HttpClient& http, Credentials& credentials,
                                              std::vector<std::string> token_realms) {
  return std::make_unique<OciBackend>(http, credentials, std::move(token_realms));
}

}  // namespace modlock
