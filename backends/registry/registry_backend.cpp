#include "backends/registry/registry_backend.h"

#include <fmt/format.h>

#include <array>

#include "backends/registry/package_fetch.h"
#include "backends/registry/registry_client.h"

namespace modlock {
namespace {

using namespace registry;

// What identifies content before what is only evidence of it.
constexpr std::array<std::string_view, 3> kIdSchemes = {"git", "oci", "zh"};

Error offline_miss(const Source& source) {
  return {.code = Code::offline_miss,
          .message =
              fmt::format("the registry may not be asked for \"{}\": offline was asked for", source.package_identity()),
          .hint = "run once without offline"};
}

class RegistryBackend final : public Backend {
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

  std::string id_hash(std::string_view id) const override { return std::string(id); }

  std::string id_of(std::span<const std::string> hashes) const override {
    for (const std::string_view scheme : kIdSchemes) {
      if (const std::string value = find_hash(hashes, scheme); !value.empty()) {
        return fmt::format("{}:{}", scheme, value);
      }
    }
    return {};
  }

  std::optional<CommitDistance> descent(const SourceAddress& /*source*/, const std::string& /*older*/,
                                        const std::string& /*newer*/, const Context& /*context*/) override {
    return std::nullopt;
  }

 private:
  RegistryClient client_;
  const BackendSet& others_;
};

}  // namespace

std::unique_ptr<Backend> make_registry_backend(RegistryBackendOptions options) {
  return std::make_unique<RegistryBackend>(std::move(options));
}

}  // namespace modlock
