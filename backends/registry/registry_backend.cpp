#include "backends/registry/registry_backend.h"

#include <fmt/format.h>

#include "backends/registry/package_fetch.h"
#include "backends/registry/registry_client.h"

namespace modlock {
namespace {

using namespace registry;

Error offline_miss(const Source& source) {
  return {.code = Code::offline_miss,
          .message =
              fmt::format("the registry may not be asked for \"{}\": offline was asked for", source.package_identity()),
          .hint = "run once without offline"};
}

class RegistryBackend final : public BackendCore {
 public:
  explicit RegistryBackend(RegistryBackendOptions options)
      : client_(RegistryHttp(options.http, options.credentials, options.policy, std::move(options.user_agent)),
                options.client, {.version = std::move(options.client_version), .rules = options.rules}),
        others_(options.others) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::registry; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    if (!tag_prefix.empty()) {
      return fail(Code::invalid_params,
                  fmt::format("a tag prefix (\"{}\") was given for \"{}\", but a registry has versions, not tags",
                              tag_prefix, source.source.package_identity()),
                  "remove the tag prefix");
    }
    return context.offline ? fail(offline_miss(source.source)) : client_.versions(source.source, context);
  }

  Result<Pin> pin(const SourceAddress& source, const Context& /*context*/) override {
    return fail(Code::not_found, fmt::format("\"{}\" has no references to pin: a registry has versions alone",
                                             source.source.package_identity()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    if (context.offline) {
      return std::vector<Result<FetchedTree>>(requests.size(), fail(offline_miss(source.source)));
    }
    return PackageFetch(client_, others_, source.source, parent, context).fetch(requests);
  }

 private:
  RegistryClient client_;
  const BackendSet& others_;
};

}  // namespace

std::unique_ptr<BackendCore> make_registry_backend(RegistryBackendOptions options) {
  return std::make_unique<RegistryBackend>(std::move(options));
}

}  // namespace modlock
