#pragma once

#include <boost/test/unit_test.hpp>
#include <iostream>
#include <string>
#include <utility>

#include "backends/base/process.h"

// Preconditions of tests. Where what a test needs is missing, they say on stdout that `what` is skipped.
namespace modlock::test {

// For a server of that class, or a CertificateAuthority: the program behind it.
template <typename Needed>
auto has(std::string what) {
  return [what = std::move(what)](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
    return Needed::available(what);
  };
}

// A program on PATH.
inline auto has_program(std::string name, std::string what) {
  return [name = std::move(name),
          what = std::move(what)](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
    const bool is_there = find_program(name).has_value();
    if (!is_there) {
      std::cout << "skipped: " << what << " (" << name << " is not on PATH)\n";
    }
    return is_there;
  };
}

}  // namespace modlock::test
