#pragma once

#include <boost/test/unit_test.hpp>
#include <optional>

#include "tests/conformance/world.h"
#include "tests/support/needs.h"

namespace modlock::test {

constexpr const char* kWorldPrograms = "openssl, git";

// The world of the suite that runs: none where its programs are missing.
inline std::optional<World>& world() {
  static std::optional<World> made;
  return made;
}

struct WorldOfSuite {
  WorldOfSuite() {
    if (missing_programs(kWorldPrograms).empty()) {
      world().emplace();
    }
  }
  ~WorldOfSuite() { world().reset(); }
};

}  // namespace modlock::test
