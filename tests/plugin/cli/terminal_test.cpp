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

BOOST_AUTO_TEST_CASE(tables_fit_the_terminal) {
  const std::vector<std::vector<Cell>> modules = {
      {{"verified"}, {"module.network"}, {"1.2.0"}, {""}},
      {{"tampered"}, {"module.network.label"}, {"e44c563bf33e"}, {"1 file differs from the locked package"}},
      {{"verified"}, {"x"}},
  };
  struct Row {
    const char* name;
    std::vector<std::vector<Cell>> rows;
    Fit fit;
    TableStyle style;
    const char* text;
  };
  const Row rows[] = {
      {"no rows", {}, Fit::wrap, {.columns = 80}, ""},
      {"no terminal",
       modules,
       Fit::wrap,
       {},
       "verified  module.network        1.2.0\n"
       "tampered  module.network.label  e44c563bf33e  1 file differs from the locked package\n"
       "verified  x\n"},
      {"as wide as the terminal",
       modules,
       Fit::wrap,
       {.columns = 84},
       "verified  module.network        1.2.0\n"
       "tampered  module.network.label  e44c563bf33e  1 file differs from the locked package\n"
       "verified  x\n"},
      {"wrapped below the column",
       modules,
       Fit::wrap,
       {.columns = 83},
       "verified  module.network        1.2.0\n"
       "tampered  module.network.label  e44c563bf33e  1 file differs from the locked\n"
       "                                              package\n"
       "verified  x\n"},
      {"no room below the column",
       modules,
       Fit::wrap,
       {.columns = 60},
       "verified  module.network        1.2.0\n"
       "tampered  module.network.label  e44c563bf33e\n"
       "    1 file differs from the locked package\n"
       "verified  x\n"},
      {"a long word has a line of its own",
       {{{"a"}, {"x git::https://example.com/network.git y"}}},
       Fit::wrap,
       {.columns = 23},
       "a  x\n"
       "   git::https://example.com/network.git\n"
       "   y\n"},
      {"the middle is cut",
       {{{"a"}, {"git::https://example.com/network.git?ref=v1.0.0"}}},
       Fit::cut_middle,
       {.columns = 33, .utf8 = true},
       "a  git::https://ex…git?ref=v1.0.0\n"},
      {"without UTF-8",
       {{{"a"}, {"git::https://example.com/network.git?ref=v1.0.0"}}},
       Fit::cut_middle,
       {.columns = 33},
       "a  git::https://e...it?ref=v1.0.0\n"},
      {"no room below the column for an address",
       {{{"a23456789"}, {"git::https://example.com/network.git?ref=v1.0.0"}}},
       Fit::cut_middle,
       {.columns = 30, .utf8 = true},
       "a23456789\n    git::https://…t?ref=v1.0.0\n"},
      {"no room below the column, with a guide",
       {{{"a23456789"}, {.text = "git::https://example.com/network.git?ref=v1.0.0", .indent = "│  "}}},
       Fit::cut_middle,
       {.columns = 30, .utf8 = true},
       "a23456789\n│  git::https://…it?ref=v1.0.0\n"},
      {"no room for anything",
       {{{"a23456789"}, {"12345678901234567890123"}}},
       Fit::cut_middle,
       {.columns = 10, .utf8 = true},
       "a23456789\n    12345678…7890123\n"},
      {"parentheses are not broken",
       {{{"a"}, {"-> 1.4.0 (v1.4.0, minor), 2.1.0 (v2.1.0, major)"}}},
       Fit::wrap,
       {.columns = 34},
       "a  -> 1.4.0 (v1.4.0, minor), 2.1.0\n"
       "   (v2.1.0, major)\n"},
      {"an empty column has no place", {{{"a"}, {""}, {"c"}}, {{"b"}, {""}, {"d"}}}, Fit::wrap, {}, "a  c\nb  d\n"},
      {"characters are counted, not bytes",
       {{{"├─ a"}, {"x"}}, {{"└─ bc"}, {"y"}}},
       Fit::wrap,
       {},
       "├─ a   x\n└─ bc  y\n"},
      {"colors have no width",
       {{{"a", Color::red}, {"x"}}, {{"bc", Color::green}, {"y"}}},
       Fit::wrap,
       {.colored = true},
       "\x1b[31ma\x1b[0m   x\n\x1b[32mbc\x1b[0m  y\n"},
      {"names cannot command the terminal", {{{"a\x1b[2J\nb"}, {"x"}}}, Fit::wrap, {}, "a\\x1b[2J\\x0ab  x\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(table_text(row.rows, row.fit, row.style) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_locale_decides_about_utf8) {
  struct Row {
    const char* all;
    const char* type;
    const char* lang;
    bool utf8;
  };
  const Row rows[] = {
      {"", "", "", false},           {"C", "C.UTF-8", "en_US.UTF-8", false}, {"", "C.utf8", "C", true},
      {"", "", "de_DE.UTF-8", true}, {"POSIX", "", "de_DE.UTF-8", false},    {"en_US.UTF-8", "", "C", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.all << "," << row.type << "," << row.lang) {
      const test::ScopedEnvironment all("LC_ALL", row.all);
      const test::ScopedEnvironment type("LC_CTYPE", row.type);
      const test::ScopedEnvironment lang("LANG", row.lang);
      BOOST_TEST(has_utf8_locale() == row.utf8);
    }
  }
}

BOOST_AUTO_TEST_CASE(progress_has_counts_and_stays_on_one_line) {
  const test::ScopedEnvironment locale("LC_ALL", "C");
  struct Row {
    const char* message;
    std::size_t done;
    std::size_t total;
    std::size_t columns;
    const char* text;
  };
  const Row rows[] = {
      {"fetching x", 2, 9, 80, "3/9 fetching x"},
      {"fetching x", 9, 9, 80, "9/9 fetching x"},
      {"fetching x", 0, 0, 80, "fetching x"},
      {"fetching git::https://example.com/network.git", 2, 9, 31, "3/9 fetching g...m/network.git"},
      {"fetching\x1b x", 0, 0, 0, "fetching\\x1b x"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(progress_text(row.message, row.done, row.total, row.columns) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(long_work_is_shown) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
  // Each step: after so many seconds, so many MiB arrive; 0: a report.
  struct Row {
    const char* name;
    bool is_shown;
    bool is_terminal;
    std::vector<std::pair<int, std::size_t>> steps;
    const char* err;
  };
  const std::string line = "\r\x1b[K1/3 fetching x";
  const std::string clear = "\r\x1b[K";
  const std::string slow = line + line + ", 3.0 MiB, 1.5 MiB/s" + clear;
  const std::string quick = line + line + clear;
  const Row rows[] = {
      {"a download of two seconds", true, true, {{0, 0}, {0, 1}, {1, 1}, {1, 1}}, slow.c_str()},
      {"a shorter one", true, true, {{0, 0}, {0, 1}, {1, 1}, {0, 0}}, quick.c_str()},
      {"downloads with a pause", true, true, {{0, 0}, {0, 1}, {3, 1}, {1, 1}, {0, 0}}, quick.c_str()},
      {"nothing after a download",
       true,
       true,
       {{0, 1}, {1, 1}, {1, 1}, {9, 0}},
       "\r\x1b[Kdownloading, 3.0 MiB, 1.5 MiB/s\r\x1b[K1/3 fetching x\r\x1b[K"},
      {"no terminal", true, false, {{0, 0}, {29, 0}, {1, 0}, {29, 0}, {2, 0}}, "1/3 fetching x\n1/3 fetching x\n"},
      {"a download without a terminal",
       true,
       false,
       {{28, 0}, {0, 1}, {1, 1}, {1, 1}},
       "1/3 fetching x, 3.0 MiB, 1.5 MiB/s\n"},
      {"quiet", false, true, {{0, 0}, {0, 1}, {2, 1}}, ""},
      {"quiet without a terminal", false, false, {{31, 0}}, ""},
  };
  const test::ScopedEnvironment locale("LC_ALL", "C");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::chrono::steady_clock::time_point now{std::chrono::hours{1}};
      const test::Printed printed = test::printed_by([&] {
        TerminalProgress progress(row.is_shown, row.is_terminal, [&] { return now; });
        for (const auto& [seconds, mebibytes] : row.steps) {
          now += std::chrono::seconds{seconds};
          mebibytes == 0 ? progress.report("fetching x", 0, 3) : progress.received(mebibytes * kMebibyte);
        }
      });
      BOOST_TEST(printed.err == row.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(control_characters_are_visible_except_in_raw_text) {
  const char* const text = "/a\x1b[31m\tb\n";
  const test::Printed printed = test::printed_by([&] {
    Printer().out(text);
    Printer().raw(text);
    Printer().err(text);
  });
  BOOST_TEST(printed.out == "/a\\x1b[31m\\x09b\n/a\x1b[31m\tb\n");
  BOOST_TEST(printed.err == "/a\\x1b[31m\\x09b\n");
}

BOOST_AUTO_TEST_CASE(held_texts_are_printed_with_the_end_of_the_last_copy_unless_dropped) {
  for (const bool is_dropped : {false, true}) {
    const test::Printed printed = test::printed_by([&] {
      const Printer held = Printer::holding();
      Printer(held).out("a\n");
      TerminalLog(LogLevel::warning, true, held).write(LogLevel::warning, "b");
      held.raw("c\n");
      Printer().out("at once\n");
      if (is_dropped) {
        held.drop();
      }
    });
    BOOST_TEST(printed.out == (is_dropped ? "at once\n" : "at once\na\nc\n"));
    BOOST_TEST(printed.err == (is_dropped ? "" : "Warning: b\n"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::cli
