#include "plugin/cli/terminal.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/cli/captured_output.h"
#include "tests/support/environment.h"

namespace modlock::cli {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(terminal)

BOOST_AUTO_TEST_CASE(the_rest_takes_as_long_as_what_is_done) {
  struct Row {
    const char* name;
    std::chrono::steady_clock::duration elapsed;
    std::size_t done;
    std::size_t total;
    const char* text;
  };
  const Row rows[] = {
      {"half", 10s, 5, 10, "about 10 s left"},
      {"a part of a second", 100ms, 3, 4, "about 1 s left"},
      {"nothing left", 10s, 10, 10, "about 0 s left"},
      {"many", 200ms, 1, 1000, "about 4 min left"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(time_left(row.elapsed, row.done, row.total) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(colours_are_as_asked_for) {
  const test::ScopedEnvironment none("NO_COLOR", "1");
  BOOST_TEST(wants_colour("always"));
  BOOST_TEST(!wants_colour("never"));
  BOOST_TEST(!wants_colour("auto"));
}

BOOST_AUTO_TEST_CASE(control_characters_are_visible_except_in_raw_text) {
  const char* const text = "/a\x1b[31m\tb\n";
  const test::Printed printed = test::printed_by([&] {
    print_out(text);
    print_raw(text);
    print_err(text);
  });
  BOOST_TEST(printed.out == "/a\\x1b[31m\\x09b\n/a\x1b[31m\tb\n");
  BOOST_TEST(printed.err == "/a\\x1b[31m\\x09b\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::cli
