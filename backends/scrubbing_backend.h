#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/scrub.h"

namespace modlock {

// `inner`, of whose errors, warnings, log lines and listings nothing is shown that `secrets` knows, to which each call
// adds what the address of its source holds. A version whose tag holds a secret is skipped, for it would be written
// into lock files; BAD_RESPONSE where a registry places a module in a directory that is named so. `secrets` outlives
// it.
std::unique_ptr<Backend> make_scrubbing_backend(std::unique_ptr<Backend> inner, KnownSecrets& secrets);

}  // namespace modlock
