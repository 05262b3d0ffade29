#include "tests/support/clients.h"

#include <iostream>
#include <utility>

#include "backends/base/process.h"

namespace modlock::test {

std::vector<std::string> clients() {
  std::vector<std::string> found;
  for (const char* name : {"tofu", "terraform"}) {
    if (find_program(name)) {
      found.emplace_back(name);
    }
  }
  return found;
}

std::function<boost::test_tools::assertion_result(boost::unit_test::test_unit_id)> has_client(std::string what) {
  return [what = std::move(what)](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
    const bool any = !clients().empty();
    if (!any) {
      std::cout << "skipped: " << what << " (neither tofu nor terraform is on PATH)\n";
    }
    return any;
  };
}

}  // namespace modlock::test
