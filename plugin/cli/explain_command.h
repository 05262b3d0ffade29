#pragma once

#include <string>
#include <string_view>

#include "backends/credentials/make_credentials.h"
#include "plugin/cli/command_line.h"
#include "plugin/engine/engine.h"
#include "protocol/result.h"

namespace modlock::cli {

// What `explain --credentials HOST[/REPOSITORY]` shows: for each use the places in the order of precedence with what
// is there, and which is used. {host, repository?, uses: [{use, used, places: [{place, outcome}]}], warnings?: [text]};
// `used` is null where there is none. Programs that the places name are asked, as a request would ask them. Never a
// secret. Errors: INVALID_PARAMS (no host, a URL; the text itself is not in the message), REQUEST_CANCELLED.
Result<Json::Value> explain_credentials(std::string_view where, const ClientConfiguration& configuration,
                                        const Surroundings& surroundings, const Context& context);

// The command: for the client that the options, the environment or PATH name.
int run_explain_credentials(const std::string& where, const CommonFlags& flags, const EngineOptions& options,
                            std::stop_token stop);

}  // namespace modlock::cli
