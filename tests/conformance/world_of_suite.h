#pragma once

#include <boost/test/unit_test.hpp>
#include <optional>

#include "backends/base/process.h"
#include "tests/conformance/world.h"

namespace modlock::test {

// The world of the suite that runs: none where its programs are missing.
inline std::optional<World>& world() {
  static std::optional<World> made;
  return made;
}

struct WorldOfSuite {
  WorldOfSuite() {
    if (CertificateAuthority::available("faults over every backend") && find_program("git")) {
      world().emplace();
    }
  }
  ~WorldOfSuite() { world().reset(); }
};

inline boost::test_tools::assertion_result has_world(boost::unit_test::test_unit_id /*test*/) {
  return world().has_value();
}

}  // namespace modlock::test
