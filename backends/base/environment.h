#pragma once

#include <cstdlib>
#include <string>

namespace modlock {

// Returns the value of an environment variable; empty: it is not set.
inline std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace modlock
