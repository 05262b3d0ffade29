#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/credentials/kept_files.h"
#include "backends/credentials/lookup.h"
#include "backends/credentials/netrc.h"
#include "backends/credentials/surroundings.h"

namespace modlock {

// Where the user and password of a download may be: the file that NETRC names, else ~/.netrc. Thread-safe.
class NetrcPlaces {
 public:
  explicit NetrcPlaces(const Surroundings& surroundings);

  // `failure`: CONFIG_PARSE where the file is there and is no netrc file, IO_ERROR where it cannot be read.
  Lookup look(std::string_view host);

 private:
  struct File {
    std::string name;
    std::vector<NetrcMachine> machines = {};
    std::string absent = {};  // why there are none
    std::optional<Error> failure = {};
  };
  File read() const;

  const Surroundings& surroundings_;
  KeptFiles<File> file_;
};

}  // namespace modlock
