#include "protocol/rpc/request_progress.h"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace modlock {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(request_progress_test)

BOOST_AUTO_TEST_CASE(begin_reports_and_end) {
  std::vector<std::string> lines;
  std::chrono::steady_clock::time_point now{};
  {
    RequestProgress progress(
        "\"t\"", "lock/plan", [&](std::string line) { lines.push_back(std::move(line)); }, [&] { return now; });
    now += 99ms;
    progress.report("too soon", 1, 3);
    now += 1ms;
    progress.report("listing", 2, 3);
    progress.report("too soon again", 2, 3);
    now += 100ms;
    progress.report("of unknown length", 5, 0);
    progress.end();
    now += 100ms;
    progress.report("too late", 3, 3);
  }
  const std::vector<std::string> expected = {
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"lock/plan"}}})",
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"done":2,"kind":"report","message":"listing","total":3}}})",
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"done":5,"kind":"report","message":"of unknown length"}}})",
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"end"}}})",
  };
  BOOST_TEST(lines == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
