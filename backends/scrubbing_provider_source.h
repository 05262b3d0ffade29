#pragma once

#include <memory>

#include "backends/provider_source.h"
#include "backends/scrub.h"

namespace modlock {

// `inner`, of whose errors, warnings and log lines nothing is shown that `secrets` knows, which outlives it.
std::unique_ptr<ProviderSource> make_scrubbing_provider_source(std::unique_ptr<ProviderSource> inner,
                                                               const KnownSecrets& secrets);

}  // namespace modlock
