#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/credentials/credentials.h"

namespace modlock {

// What was found for one host, where it was looked for, and why that failed. Whoever fills it adds the places in the
// order of precedence.
struct CredentialLookup {
  FoundCredential found;
  std::vector<CredentialLocation> places;
  std::optional<Error> failure;

  void add(std::string place, std::string outcome) { places.push_back({std::move(place), std::move(outcome)}); }
};

}  // namespace modlock
