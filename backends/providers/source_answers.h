#pragma once

#include <vector>

#include "backends/address/platform.h"
#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "protocol/base/result.h"

namespace modlock {

// The order of a ProviderListing: newest first, each once. Of versions that are equally new, the order is that of their
// metadata.
void order_newest_first(std::vector<ProviderVersion>& versions);

// NOT_FOUND `provider <name> was not found in any of the search locations`, as the clients say it.
tl::unexpected<Error> provider_not_found(const ProviderAddress& provider);

// NOT_FOUND `provider <name> <version> is not available for <platform>`, likewise.
tl::unexpected<Error> not_available(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform);

// The error of something that a source lists and then does not have: no other source is asked in its place, so a
// NOT_FOUND becomes BAD_RESPONSE.
Error not_as_listed(Error error);

}  // namespace modlock
