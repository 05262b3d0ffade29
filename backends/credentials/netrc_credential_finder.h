#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/credentials/credential_lookup.h"
#include "backends/credentials/netrc.h"
#include "backends/credentials/process_environment.h"
#include "backends/credentials/reloaded_files.h"

namespace modlock {

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
