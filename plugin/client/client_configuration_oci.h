#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_installation.h"
#include "backends/credentials/client_configuration.h"
#include "plugin/client/hcl1.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

// Adds what a file says in `oci_credentials` and `oci_default_credentials` blocks; `directory` is where its relative
// paths start, `name` what messages call it. Of two blocks for the same repositories, and of two
// oci_default_credentials, the first counts. Returns what is wrong with blocks, which are left out then.
Diagnostics read_oci_configuration(const hcl1::File& file, const std::filesystem::path& directory,
                                   std::string_view name, ClientConfiguration& configuration);

// "host[:port]" with, at choice, whole segments of a repository behind it.
bool is_repository_prefix(std::string_view text);

// The argument `repository_template` of an `oci_mirror` block: a template of OpenTofu's language in which `hostname`,
// `namespace` and `type` are those of a provider. Answers the repository of a provider, "example.com/mirror/aws".
// Errors, in OpenTofu's words: CONFIG_PARSE (no template; another name; a part of the address that neither the template
// names nor `include` fixes; one that gives no text or no address of a repository).
// Those of the function: CONFIG_PARSE, of a template that fails for one provider only.
Result<std::function<Result<std::string>(const ProviderAddress&)>> read_repository_template(
    std::string_view text, const std::vector<ProviderPattern>& include);

}  // namespace modlock
