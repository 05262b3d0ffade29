#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/environment.h"
#include "backends/credentials/credentials.h"
#include "protocol/base/result.h"

namespace modlock {

struct NetrcMachine {
  std::string name;  // empty: `default`
  SecretText login;
  SecretText password;
  std::size_t line = 1;
};

// Reads a netrc file as go-netrc does, the library that OpenTofu uses for downloads. Words are separated by white
// space; there are no quotes. A word that starts with # begins a comment to the end of the line, or, if a value must
// follow, a value to the end of the line. A macro ends at an empty line. Errors: CONFIG_PARSE with the line and the
// problem, never with text from the file. `name` is the name of the file in messages.
Result<std::vector<NetrcMachine>> parse_netrc(std::string_view text, std::string_view name);

// Returns the first machine with exactly this name (including a port), else the default, else nullptr.
const NetrcMachine* find_machine(const std::vector<NetrcMachine>& machines, std::string_view host);

// Finds the user and password of a download in the file that NETRC names, else in ~/.netrc. `failure`: CONFIG_PARSE if
// the file is not a netrc file, IO_ERROR if it exists but cannot be read.
CredentialLookup find_in_netrc(const ProcessEnvironment& environment, std::string_view host);

}  // namespace modlock
