#pragma once

#include <string>
#include <vector>

#include "protocol/base/error.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {

// A release that no one may lock, and the error that says so: from the source of providers, and from the program.
struct ReleaseFault {
  const char* name;
  PublishedProvider release;  // of acme/bad 1.1.0
  Code code;
  std::string message;
  bool enforces_signatures = false;
  bool enforces_expiration = false;
};

// What the signature, the answers, the checksums and the archive of a release can have wrong, under OpenTofu 1.12.
std::vector<ReleaseFault> release_faults();

}  // namespace modlock::test
