#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/base/environment.h"
#include "backends/credentials/client_configuration.h"
#include "plugin/client/hcl1.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

// Adds the `provider_installation` of a file; messages name the file `name`. Only the first block is used, and only its
// valid parts. Returns the problems (CONFIG_PARSE), as a client prints them.
Diagnostics read_provider_installation(const hcl1::File& file, std::string_view name, ClientKind tool,
                                       ClientConfiguration& configuration);

// The shared directory for packages, absolute: TF_PLUGIN_CACHE_DIR, else `plugin_cache_dir` of a file with its
// variables expanded. Empty if there is none.
std::string plugin_cache_directory(std::string_view written, const ProcessEnvironment& environment);

// Adds the `oci_credentials` and `oci_default_credentials` blocks of a file. Its relative paths start at `directory`;
// messages name it `name`. The first of two blocks for the same repositories is used, as is the first
// oci_default_credentials. Returns the problems in blocks, which are then left out.
Diagnostics read_oci_configuration(const hcl1::File& file, const std::filesystem::path& directory,
                                   std::string_view name, ClientConfiguration& configuration);

// "host[:port]", optionally followed by whole segments of a repository.
bool is_repository_prefix(std::string_view text);

// Reads the argument `repository_template` of an `oci_mirror` block: a template of OpenTofu's language in which
// `hostname`, `namespace` and `type` are those of a provider. The returned function returns the repository of a
// provider, "example.com/mirror/aws". Errors, in OpenTofu's wording: CONFIG_PARSE (an invalid template; another name; a
// part of the address that neither the template names nor `include` fixes; a result that is not a text or not the
// address of a repository). Errors of the function: CONFIG_PARSE, if the template fails only for some providers.
Result<std::function<Result<std::string>(const ProviderAddress&)>> read_repository_template(
    std::string_view text, const std::vector<ProviderPattern>& include);

}  // namespace modlock
