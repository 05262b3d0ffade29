#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "backends/credentials/credentials.h"
#include "backends/credentials/process_environment.h"
#include "backends/credentials/reloaded_files.h"
#include "protocol/base/result.h"

namespace modlock {

struct NetrcMachine {
  std::string name;  // empty: `default`
  SecretText login;
  SecretText password;
  std::size_t line = 1;
};

// Reads a netrc file as go-netrc does, the library behind OpenTofu's downloads: words apart by white space, no quotes;
// a word that starts with # is a comment to the end of its line, or a value of the whole line where a value must
// follow; a macro ends at an empty line. Errors: CONFIG_PARSE saying the line and what is wrong, never a word of the
// file; `name` is what the message calls the file.
Result<std::vector<NetrcMachine>> parse_netrc(std::string_view text, std::string_view name);

// The first machine of exactly that name (a port belongs to it), else the default; nullptr where there is neither.
const NetrcMachine* find_machine(const std::vector<NetrcMachine>& machines, std::string_view host);

// Where the user and password of a download may be: the file that NETRC names, else ~/.netrc. Thread-safe.
class NetrcCredentialFinder {
 public:
  explicit NetrcCredentialFinder(const ProcessEnvironment& environment);

  // `failure`: CONFIG_PARSE where the file is there and is no netrc file, IO_ERROR where it cannot be read.
  CredentialLookup look(std::string_view host);

 private:
  struct File {
    std::string name;
    std::vector<NetrcMachine> machines = {};
    std::string absent = {};  // why there are none
    std::optional<Error> failure = {};
  };
  File read() const;

  const ProcessEnvironment& environment_;
  ReloadedFiles<File> file_;
};

}  // namespace modlock
