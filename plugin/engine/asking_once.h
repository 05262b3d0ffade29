#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/provider_source.h"

namespace modlock {

// Answers what has been asked before out of its memory, failures too, and lets who asks the same meanwhile wait: for a
// run over many roots. What a run may not ask (Context::check_source) it is not told either. Fetches are not kept: the
// store has what they bring.
std::unique_ptr<Backend> make_asking_once_backend(std::unique_ptr<Backend> inner);

// The same for a source of providers: a release is one question for each set of platforms.
std::unique_ptr<ProviderSource> make_asking_once_provider_source(std::unique_ptr<ProviderSource> inner);

// A source that others share.
std::unique_ptr<ProviderSource> make_shared_provider_source(std::shared_ptr<ProviderSource> inner);

}  // namespace modlock
