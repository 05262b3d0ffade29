#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/store/store.h"

namespace modlock::terragrunt {

// What is known about one download of Terragrunt, kept in the cache of the user, which no checkout contains. It is
// known by the time of its version file, which Terragrunt writes with each download.

// Returns the names of the files that this download may have more than the locked package, because its source had
// another one then; nullopt: not known.
std::optional<std::vector<std::string>> find_download_record(const Store& store,
                                                             const std::filesystem::path& version_file);
// Writes the record. A failure is no error: then it is not known.
void record_download(const Store& store, const std::filesystem::path& version_file,
                     const std::vector<std::string>& added);

}  // namespace modlock::terragrunt
