#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// The variables of the root module from the environment of a tofu or terraform run.
struct ClientEnvironment {
  std::map<std::string, std::string> fallback_variables;  // TF_VAR_<name>
  // -var and -var-file in the order of the client: those of TF_CLI_ARGS_init come before those of TF_CLI_ARGS.
  std::vector<messages::VariableArgument> arguments;
};

// Errors: INVALID_PARAMS for TF_CLI_ARGS that cannot be split into words, and those of parse_variable().
Result<ClientEnvironment> read_client_environment();

// Splits words as the client does: spaces separate, quotes and backslashes protect. Errors: INVALID_PARAMS for an open
// quote.
Result<std::vector<std::string>> split_words(std::string_view text, std::string_view name);

// Returns whether an argument of the client's init sets -upgrade.
bool is_upgrade(std::string_view argument);
// Returns the environment variable whose arguments for init set it; "": none.
std::string upgrade_variable();

// Parses "NAME=VALUE". Errors: INVALID_PARAMS for an assignment without "=" or name, or with a space after the name;
// errors never contain the value.
Result<messages::VariableArgument> parse_variable(std::string_view assignment);

}  // namespace modlock
