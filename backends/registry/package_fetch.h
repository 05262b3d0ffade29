#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/backend_set.h"
#include "backends/registry/registry_client.h"

namespace modlock::registry {

// Brings versions of one module of a registry: asks where each lies, and has whoever serves that fetch it. One object
// serves one call. The rules are those of make_registry_backend().
class PackageFetch {
 public:
  PackageFetch(RegistryClient& client, const BackendSet& others, const Source& module,
               const std::filesystem::path& parent, const Context& context)
      : client_(client), others_(others), module_(module), parent_(parent), context_(context) {}

  std::vector<Result<FetchedTree>> fetch(std::span<const FetchRequest> requests);

 private:
  // A request in terms of the source that the registry points to.
  struct Inner {
    SourceAddress address;
    Backend* backend = nullptr;
    FetchRequest request;
    Diagnostics warnings;
  };
  // One fetch: a direct download, or everything from one repository.
  struct Batch {
    std::optional<DirectPackage> direct;
    std::vector<std::size_t> requests;
  };

  void locate(std::span<const FetchRequest> requests);
  Result<Inner> prepare(const FetchRequest& request, const SourceAddress& address) const;
  Result<void> expect_locked(Inner& inner, const FetchRequest& request) const;
  Result<void> expect_named(Inner& inner, const FetchRequest& request) const;
  std::vector<Batch> make_batches(std::span<const FetchRequest> requests);
  void run(const Batch& batch, std::span<const FetchRequest> requests);
  Result<FetchedTree> download(const FetchRequest& request, const DirectPackage& package) const;
  Result<FetchedTree> complete(const FetchRequest& request, const Inner& inner, Result<FetchedTree> tree) const;
  std::string lies_at(const FetchRequest& request, const Inner& inner) const;
  std::string display(const FetchRequest& request) const { return version_display(module_, request.ref); }

  RegistryClient& client_;
  const BackendSet& others_;
  const Source& module_;
  const std::filesystem::path& parent_;
  const Context& context_;
  std::map<std::string, Result<PackageLocation>> locations_;  // by version
  std::vector<std::optional<Inner>> inner_;                   // by request; none for a direct download
  std::vector<Result<FetchedTree>> results_;                  // by request
};

}  // namespace modlock::registry
