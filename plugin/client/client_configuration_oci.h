#pragma once

#include <filesystem>
#include <string_view>

#include "backends/credentials/client_configuration.h"
#include "plugin/client/hcl1.h"
#include "protocol/base/error.h"

namespace modlock {

// Adds what a file says in `oci_credentials` and `oci_default_credentials` blocks; `directory` is where its relative
// paths start, `name` what messages call it. Of two blocks for the same repositories, and of two
// oci_default_credentials, the first counts. Returns what is wrong with blocks, which are left out then.
Diagnostics read_oci_configuration(const hcl1::File& file, const std::filesystem::path& directory,
                                   std::string_view name, ClientConfiguration& configuration);

// "host[:port]" with, at choice, whole segments of a repository behind it.
bool is_repository_prefix(std::string_view text);

}  // namespace modlock
