#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"

namespace modlock::cli {

// What the environment of a tofu or terraform run says about the variables of the root module.
struct ClientEnvironment {
  std::map<std::string, std::string> fallback_variables;  // TF_VAR_<name>
  std::map<std::string, std::string> variables;           // -var of TF_CLI_ARGS and TF_CLI_ARGS_init
  std::vector<std::string> var_files;                     // their -var-file
};

// Errors: INVALID_PARAMS for TF_CLI_ARGS that cannot be split into words, and for a -var without "=".
Result<ClientEnvironment> read_client_environment();

// Splits as the client does: blanks separate, quotes and backslashes protect. Errors: INVALID_PARAMS for an open quote.
Result<std::vector<std::string>> split_words(std::string_view text, std::string_view name);

// Adds "NAME=VALUE". Errors: INVALID_PARAMS, without the value.
Result<void> add_variable(std::map<std::string, std::string>& variables, std::string_view assignment);

}  // namespace modlock::cli
