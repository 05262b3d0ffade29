#include "protocol/rpc/dispatcher.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace modlock {
namespace {

class ListLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override {
    lines.push_back(std::string(to_string(level)) + ": " + std::string(line));
  }
  std::vector<std::string> lines;
};

BOOST_AUTO_TEST_SUITE(notifications_test)

BOOST_AUTO_TEST_CASE(lines_pass_up_to_the_level) {
  ListLog next;
  SessionLog log(next, [](const std::string&) {});
  log.write(LogLevel::error, "a");
  log.write(LogLevel::warning, "b");
  log.write(LogLevel::info, "c");
  log.set_level(LogLevel::debug);
  log.write(LogLevel::debug, "d");
  log.set_level(LogLevel::error);
  log.write(LogLevel::warning, "e");
  BOOST_TEST(next.lines == (std::vector<std::string>{"error: a", "warning: b", "debug: d"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_host_is_told_when_it_asked) {
  std::vector<std::string> sent;
  SessionLog log(null_log(), [&sent](std::string line) { sent.push_back(std::move(line)); });
  log.write(LogLevel::error, "a");
  log.send_to_host(true);
  log.write(LogLevel::warning, "b");
  log.write(LogLevel::info, "c");
  BOOST_TEST(sent ==
                 std::vector<std::string>{
                     R"({"jsonrpc":"2.0","method":"log/message","params":{"level":"warning","message":"b"}})"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(levels_have_names) {
  for (const LogLevel level : {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug}) {
    BOOST_TEST((parse_log_level(to_string(level)) == level));
  }
  BOOST_TEST(!parse_log_level("verbose"));
}

BOOST_AUTO_TEST_SUITE_END()

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
