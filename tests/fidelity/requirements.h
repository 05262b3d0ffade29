#pragma once

#include <string>
#include <vector>

#include "tests/fidelity/chance.h"
#include "tests/fidelity/offers.h"

namespace modlock::fidelity {

// A provider that a configuration requires.
struct Requirement {
  const Offer* offer = nullptr;
  std::string host;
  std::string local_name;
  std::string version;                   // mostly what the constraints allow
  std::vector<std::string> constraints;  // as somebody would write them
  bool is_implied = false;               // by a resource alone

  std::string address() const { return host + "/" + offer->name; }
};

// A version constraint as somebody would write it, that mostly allows `version`, one of those of `offer`.
std::string some_constraint(Chance& chance, const Offer& offer, const std::string& version);
// What no client reads as a constraint, or only some do.
std::string odd_constraint(Chance& chance);

// A state with resources of these providers, given by their addresses.
std::string state_of(const std::vector<std::string>& addresses);

}  // namespace modlock::fidelity
