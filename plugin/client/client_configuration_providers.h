#pragma once

#include <string>
#include <string_view>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/process_environment.h"
#include "plugin/client/hcl1.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/error.h"

namespace modlock {

// Adds what a file says in `provider_installation`; `name` is what messages call the file. Of two blocks the first
// counts, and of a block what is as it should be. Returns what is wrong (CONFIG_PARSE), as a client prints it.
Diagnostics read_provider_installation(const hcl1::File& file, std::string_view name, ClientKind tool,
                                       ClientConfiguration& configuration);

// The directory that packages are shared in, absolute: TF_PLUGIN_CACHE_DIR, else `plugin_cache_dir` as a file has it,
// with the variables in it. Empty where there is none.
std::string plugin_cache_directory(std::string_view written, const ProcessEnvironment& environment);

}  // namespace modlock
