#define BOOST_TEST_MODULE tofu_modlock
#include <algorithm>
#include <boost/test/tree/test_case_counter.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/unit_test.hpp>
#include <iostream>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kFailed = "precondition failed";

// Says on stdout what is skipped, how many cases that is, and why. Boost.Test does not say how many cases a suite has.
struct SkipReport : boost::unit_test::test_observer {
  SkipReport() { boost::unit_test::framework::register_observer(*this); }
  ~SkipReport() { boost::unit_test::framework::deregister_observer(*this); }

  // After Boost's own first observer, whose memory is not initialized before its turn: each one before it can make the
  // framework give up with "Test setup error".
  int priority() override { return 1; }

  using test_observer::test_unit_skipped;
  void test_unit_skipped(const boost::unit_test::test_unit& unit, boost::unit_test::const_string reason) override {
    const std::string why(reason.begin(), reason.end());
    if (!why.starts_with(kFailed)) {
      return;  // not selected, or out of time
    }
    boost::unit_test::test_case_counter counter;
    boost::unit_test::traverse_test_tree(unit, counter);
    std::cout << "skipped: " << unit.full_name() << " (" << counter.p_count
              << (counter.p_count == 1 ? " case): " : " cases): ")
              << why.substr(std::min(why.size(), kFailed.size() + 2)) << std::endl;
  }
};

const SkipReport kSkipReport;

}  // namespace
