#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "backends/store/store.h"
#include "protocol/base/result.h"

namespace modlock {

// A provider package in a directory of the local filesystem.
struct LocalProvider {
  ProviderVersion version;
  Platform platform;
  std::filesystem::path path;
  bool is_packed = false;  // a zip; else an extracted directory
};

using LocalProviders = std::map<ProviderAddress, std::vector<LocalProvider>>;

// Finds the provider packages below a directory as OpenTofu's SearchLocalDirectory does
// (internal/getproviders/filesystem_search.go):
//   <host>/<namespace>/<type>/<version>/<os>_<arch>/
//   <host>/<namespace>/<type>/terraform-provider-<type>_<version>_<os>_<arch>[_…].zip
// The host is in Unicode. Archive names match in any case. Symlinks are followed only for `directory` itself and for a
// package. Other entries are ignored. The packages of a provider are sorted by name, so an extracted one precedes an
// archive of the same version and platform.
// Errors: IO_ERROR with the directory that is missing or cannot be read.
Result<LocalProviders> find_local_providers(const std::filesystem::path& directory);

// Serves the provider packages below a local directory (find_local_providers()), which is read once, on first use. A
// client records only the h1 of a package's directory, also for an archive, so no other platform is covered. A provider
// without packages has an empty listing. A version that is missing for a platform is NOT_FOUND `provider <name>
// <version> is not available for <platform>`. Errors: those of find_local_providers() and of hashing a package.
// Store and archives outlive the source. The store caches the hashes of directories.
std::unique_ptr<ProviderSource> make_filesystem_mirror(std::filesystem::path directory, ProviderArchives& archives,
                                                       const Store& store);

}  // namespace modlock
