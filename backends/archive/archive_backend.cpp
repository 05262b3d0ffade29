#include "backends/archive/archive_backend.h"

#include <fmt/format.h>

#include "backends/archive/archive_fetch.h"

namespace modlock {
namespace {

class ArchiveBackend final : public BackendCore {
 public:
  ArchiveBackend(HttpClient& http, Credentials& credentials, const BackendSet& others)
      : http_(http), credentials_(credentials), others_(others) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::archive; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view /*tag_prefix*/,
                                const Context& /*context*/) override {
    return fail(Code::source_unsupported,
                fmt::format("\"{}\" is an archive, which has no versions", source.source.package_identity()),
                "a version constraint needs a registry, git or OCI source; remove it, or change the source");
  }

  Result<Pin> pin(const SourceAddress& source, const Context& /*context*/) override {
    return fail(Code::not_found,
                fmt::format("\"{}\" has no references to pin: it is an archive", source.source.package_identity()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    std::vector<Result<FetchedTree>> trees;
    for (const FetchRequest& request : requests) {
      if (context.offline) {
        trees.push_back(
            fail(Code::offline_miss,
                 fmt::format("\"{}\" may not be downloaded: offline was asked for", source.source.package_identity()),
                 "run once without offline"));
      } else {
        trees.push_back(archive::ArchiveFetch(http_, credentials_, others_, parent, context).fetch(source, request));
      }
    }
    return trees;
  }

 private:
  HttpClient& http_;
  Credentials& credentials_;
  const BackendSet& others_;
};

}  // namespace

std::unique_ptr<BackendCore> make_archive_backend(HttpClient& http, Credentials& credentials,
                                                  const BackendSet& others) {
  return std::make_unique<ArchiveBackend>(http, credentials, others);
}

}  // namespace modlock
