#pragma once

#include <string>
#include <string_view>

#include "backends/address/provider_address.h"

namespace modlock {

// The provider in a state's `module.a.provider["registry.opentofu.org/hashicorp/aws"].west["key"]`, and in the form of
// Terraform 0.12, `provider.aws`: a legacy address, or the built-in one. Errors: SOURCE_INVALID.
Result<ProviderAddress> parse_state_provider(const std::string& text, std::string_view default_host);

}  // namespace modlock
