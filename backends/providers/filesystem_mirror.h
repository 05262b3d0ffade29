#pragma once

#include <filesystem>
#include <memory>

#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "backends/store/store.h"

namespace modlock {

// The provider packages below a local directory (find_local_providers()), which is read once, with the first question.
// A client records the h1 of a package's directory and nothing else, of a packed one too, so no other platform is
// covered. A provider of which there is nothing has an empty listing; of a version that is not there for a platform
// says NOT_FOUND `provider <name> <version> is not available for <platform>`. Errors: those of find_local_providers()
// and of the hashes of a package.
// Store and archives outlive the source; the store remembers the hashes of directories.
std::unique_ptr<ProviderSource> make_filesystem_mirror(std::filesystem::path directory, ProviderArchives& archives,
                                                       const Store& store);

}  // namespace modlock
