#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "backends/address/platform.h"
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
  bool is_packed = false;  // a zip; else the directory that it unpacks to
};

using LocalProviders = std::map<ProviderAddress, std::vector<LocalProvider>>;

// The provider packages below a directory, as OpenTofu's SearchLocalDirectory finds them
// (internal/getproviders/filesystem_search.go):
//   <host>/<namespace>/<type>/<version>/<os>_<arch>/
//   <host>/<namespace>/<type>/terraform-provider-<type>_<version>_<os>_<arch>[_…].zip
// The host is written in Unicode; names of archives count in any case. Links are followed for `directory` itself and
// for a package, nowhere between. What does not fit is passed over. Of each provider the packages are in the order of
// their names, so an unpacked one precedes an archive of the same version and platform.
// Errors: IO_ERROR naming the directory that is not there or cannot be read.
Result<LocalProviders> find_local_providers(const std::filesystem::path& directory);

// The provider packages below a local directory (find_local_providers()), which is read once, with the first question.
// A client records the h1 of a package's directory and nothing else, of a packed one too, so no other platform is
// covered. A provider of which there is nothing has an empty listing; of a version that is not there for a platform
// says NOT_FOUND `provider <name> <version> is not available for <platform>`. Errors: those of find_local_providers()
// and of the hashes of a package.
// Store and archives outlive the source; the store remembers the hashes of directories.
std::unique_ptr<ProviderSource> make_filesystem_mirror(std::filesystem::path directory, ProviderArchives& archives,
                                                       const Store& store);

}  // namespace modlock
