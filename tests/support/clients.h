#pragma once

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

namespace modlock::test {

// The stock clients on PATH: of "tofu" and "terraform", in that order.
std::vector<std::string> clients();

// The precondition of a test that needs one; without any it says on stdout that `what` is skipped.
std::function<boost::test_tools::assertion_result(boost::unit_test::test_unit_id)> has_client(std::string what);

}  // namespace modlock::test
