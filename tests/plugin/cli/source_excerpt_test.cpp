#include "plugin/cli/source_excerpt.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::cli;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(source_excerpts)

BOOST_AUTO_TEST_CASE(lines) {
  struct Row {
    const char* name;
    std::string text;
    Range range;
    std::string shown;
  };
  const Row rows[] = {
      {"first line", "a = b\nc\n", {{1, 5, 4}, {1, 6, 5}}, "     1 | a = b\n       |     ^\n"},
      {"last line without line end", "a\nb = c", {{2, 1, 2}, {2, 6, 7}}, "     2 | b = c\n       | ^^^^^\n"},
      {"CRLF", "a\r\nb\r\n", {{2, 1, 3}, {2, 2, 4}}, "     2 | b\n       | ^\n"},
      {"several lines: where it starts",
       "a = [\n  1\n]\n",
       {{1, 5, 4}, {3, 2, 11}},
       "     1 | a = [\n       |     ^\n"},
      {"tabs stay tabs", "\ta = b\n", {{1, 6, 5}, {1, 7, 6}}, "     1 | \ta = b\n       | \t    ^\n"},
      {"characters of several bytes", "é = b\n", {{1, 5, 5}, {1, 6, 6}}, "     1 | é = b\n       |     ^\n"},
      {"nothing wide", "a = \n", {{1, 5, 4}, {1, 5, 4}}, "     1 | a = \n       |     ^\n"},
      {"user-info in an address",
       "s = \"git::https://me:tok@en@example.com/a\"\n",
       {{1, 5, 4}, {1, 6, 5}},
       "     1 | s = \"git::https://*********@example.com/a\"\n       |     ^\n"},
      {"secrets in a query",
       "s = \"git::ssh://git@h/a?sshkey=abc&ref=1\"\n",
       {{1, 1, 0}, {1, 2, 1}},
       "     1 | s = \"git::ssh://***@h/a?sshkey=***&ref=1\"\n       | ^\n"},
      {"an address without user-info",
       "s = \"https://h/a@b\"\n",
       {{1, 1, 0}, {1, 2, 1}},
       "     1 | s = \"https://h/a@b\"\n       | ^\n"},
      {"too wide", std::string(200, 'x'), {{1, 1, 0}, {1, 2, 1}}, ""},
      {"beyond the end", "a\n", {{9, 1, 99}, {9, 2, 100}}, ""},
      {"no UTF-8", "a\xFF\n", {{1, 1, 0}, {1, 2, 1}}, ""},
  };
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write("main.tf", row.text);
      BOOST_TEST(source_excerpt(directory.path().string(), {"main.tf", row.range}) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_to_show) {
  const TemporaryDirectory directory;
  const Range range{{1, 1, 0}, {1, 2, 1}};
  directory.write("secret.tfvars", "password = x\n");
  BOOST_TEST(source_excerpt(directory.path().string(), {"secret.tfvars", range}).empty());
  BOOST_TEST(source_excerpt(directory.path().string(), {"none.tf", range}).empty());
  BOOST_TEST(source_excerpt(directory.path().string(), {"secret.tfvars", std::nullopt}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
