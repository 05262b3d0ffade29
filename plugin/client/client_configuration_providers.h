#pragma once

#include <string>
#include <string_view>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/process_environment.h"
#include "plugin/client/hcl1.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/error.h"

namespace modlock {

// Adds the `provider_installation` of a file; messages name the file `name`. Only the first block is used, and only its
// valid parts. Returns the problems (CONFIG_PARSE), as a client prints them.
Diagnostics read_provider_installation(const hcl1::File& file, std::string_view name, ClientKind tool,
                                       ClientConfiguration& configuration);

// The shared directory for packages, absolute: TF_PLUGIN_CACHE_DIR, else `plugin_cache_dir` of a file with its
// variables expanded. Empty if there is none.
std::string plugin_cache_directory(std::string_view written, const ProcessEnvironment& environment);

}  // namespace modlock
