#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/provider_registry.h"

namespace modlock::fidelity {

// A provider as the registry of these tests has it.
struct Offer {
  std::string name;                   // "namespace/type"
  std::vector<std::string> versions;  // in the order of the listing
  std::vector<std::string> platforms;
  bool is_sound = true;  // false: some or all of it is refused, or not there

  std::string type() const { return name.substr(name.find('/') + 1); }
};

// Publishes every offer and returns them: always the same. Archives are stored, not deflated, so that their hashes do
// not depend on any library.
std::vector<Offer> publish_offers(test::ProviderRegistry& registry);

}  // namespace modlock::fidelity
