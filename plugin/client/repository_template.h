#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_installation.h"
#include "protocol/base/result.h"

namespace modlock {

// The argument `repository_template` of an `oci_mirror` block: a template of OpenTofu's language in which `hostname`,
// `namespace` and `type` are those of a provider. Answers the repository of a provider, "example.com/mirror/aws".
// Errors, in OpenTofu's words: CONFIG_PARSE (no template; another name; a part of the address that neither the template
// names nor `include` fixes; one that gives no text or no address of a repository).
// Those of the function: CONFIG_PARSE, of a template that fails for one provider only.
Result<std::function<Result<std::string>(const ProviderAddress&)>> read_repository_template(
    std::string_view text, const std::vector<ProviderPattern>& include);

}  // namespace modlock
