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
      {"tabs are blanks", "\ta =\tb\n", {{1, 6, 5}, {1, 7, 6}}, "     1 |  a = b\n       |      ^\n"},
      {"characters of several bytes", "é = b\n", {{1, 5, 5}, {1, 6, 6}}, "     1 | é = b\n       |     ^\n"},
      {"nothing wide", "a = \n", {{1, 5, 4}, {1, 5, 4}}, "     1 | a = \n       |     ^\n"},
      {"user-info in an address", "s = \"git::https://me:tok@en@example.com/a\"\n", {{1, 5, 4}, {1, 6, 5}}, ""},
      {"a password with characters that end a host", "s = \"https://me:t/o?k#e n@h/a\"\n", {{1, 1, 0}, {1, 2, 1}}, ""},
      {"a user-info behind escaped slashes", R"(s = "https:\/\/me:tok@h\/a")", {{1, 1, 0}, {1, 2, 1}}, ""},
      {"an \"@\" in a path, which may be the end of a password", "s = \"https://h/a@b\"\n", {{1, 1, 0}, {1, 2, 1}}, ""},
      {"as wide as can be",
       "\n" + std::string(160, 'x') + "\r\n",
       {{2, 160, 160}, {2, 161, 161}},
       "     2 | " + std::string(160, 'x') + "\n       | " + std::string(159, ' ') + "^\n"},
      {"too wide: its start",
       std::string(161, 'x'),
       {{1, 1, 0}, {1, 2, 1}},
       "     1 | " + std::string(160, 'x') + "…\n       | ^\n"},
      {"too wide: around the range",
       "\n" + std::string(300, 'a') + "bcd" + std::string(300, 'e') + "\n",
       {{2, 301, 301}, {2, 304, 304}},
       "     2 | …" + std::string(40, 'a') + "bcd" + std::string(117, 'e') + "…\n       | " + std::string(41, ' ') +
           "^^^\n"},
      {"too wide: its end",
       "\n" + std::string(300, 'x'),
       {{2, 301, 301}, {2, 302, 302}},
       "     2 | …" + std::string(40, 'x') + "\n       | " + std::string(41, ' ') + "^\n"},
      {"user-info of git",
       "s = \"git::ssh://git@h/a?ref=v1\"\n",
       {{1, 1, 0}, {1, 2, 1}},
       "     1 | s = \"git::ssh://git@h/a?ref=v1\"\n       | ^\n"},
      {"as long as can be",
       std::string(4'096, 'x'),
       {{1, 1, 0}, {1, 2, 1}},
       "     1 | " + std::string(160, 'x') + "…\n       | ^\n"},
      {"too long", std::string(4'097, 'x'), {{1, 1, 0}, {1, 2, 1}}, ""},
      {"too long, in a password",
       "\"https://me:" + std::string(10'000, 'p') + "@h/a\"",
       {{1, 1, 9'990}, {1, 2, 9'991}},
       ""},
      {"beyond the end", "a\n", {{9, 1, 99}, {9, 2, 100}}, ""},
      {"no UTF-8", "a\xFF = b\n", {{1, 6, 5}, {1, 7, 6}}, "     1 | a\\xff = b\n       |         ^\n"},
      {"control characters",
       "a \x1b[1m\x7f b\n",
       {{1, 9, 8}, {1, 10, 9}},
       "     1 | a \\x1b[1m\\x7f b\n       |               ^\n"},
  };
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write("main.tf", row.text);
      BOOST_TEST(SourceExcerpts(directory.path().string()).at({"main.tf", row.range}) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(lines_that_may_contain_a_secret_are_not_shown) {
  struct Row {
    const char* name;
    std::string line;
    bool is_shown;
  };
  const Row rows[] = {
      {"an argument", R"(s = "git::ssh://git@h/a?sshkey=abc&ref=1")", false},
      {"of any name", R"("https://h/a.zip?X-Sig=abc&archive=zip")", false},
      {"without a name", R"("https://h/a.zip?abc")", false},
      {"with blanks", R"("https://h/a.zip?k=a b" # c)", false},
      {"a fragment", R"("https://h/a.zip#abc")", false},
      {"both", R"("https://h/a?ref=v1.0&k=a?b#c&ref=d")", false},
      {"a ref and a depth", R"("git::https://h/a//x?ref=release/1.0_a-b+c&depth=1")", true},
      {"a tag of OCI", R"("oci://h/a?tag=2.0.0")", true},
      {"a digest of OCI", R"("oci://h/a//x?digest=sha256:0123abcd")", true},
      {"the checksum of an archive", R"("https://h/a?archive=zip&checksum=md5:0123")", true},
      {"a checksum with an argument", R"("https://h/a.zip?checksum=file:https://h/sums?k=a")", false},
      {"a checksum with a password", R"("https://h/a.zip?checksum=file:https://me:pw@h/sums")", false},
      {"a ref that is a reference", R"("git::https://h/a?ref=${local.versions.vpc}")", true},
      {"a ref that is computed", R"("h/a?ref=${var.x ? "a" : "b"}&k=c")", false},
      {"a ref that holds more", R"("h/a?ref=v1?k=a" "h/a?ref=v1\u0026k=a" "h/a?ref=v1%26k")", false},
      {"a ref with several templates", R"("h/a?ref=${var.a}k${var.b}")", false},
      {"behind a template with a string", R"("https://h/a${var.x["a"]}?k=${m["}"]}&l=a" + "b")", false},
      {"behind an escaped quotation mark", R"("h/a?k=a\"b" "c")", false},
      {"of the shorthand of git", R"("git@h:a/b.git?sshkey=abc")", false},
      {"of a host without scheme", R"("github.com/a/b?token=abc")", false},
      {"with escaped slashes", R"("https:\/\/h\/a?k=abc")", false},
      {"in a function", R"(s = format("https://h/a?k=%s&l=a", "b"))", false},
      {"without an address", R"("${var.address}?k=a")", false},
      {"the rest of one", R"(}&k=a&ref=1")", false},
      {"an \"@\" behind a port", R"("https://h:8443/a?k=a@b")", false},
      {"put together", R"(join("?", ["h/a", "sshkey=abc"]))", false},
      {"two addresses", R"(["https://h/a?k=a", "https://h/b?k=b"])", false},
      {"operators", R"(s = var.a && var.b ? "x" : "y" # why? because)", true},
      {"a regular expression", R"(s = regex("(?i)a", var.b))", true},
      {"a comment", R"(#a # b #c)", true},
  };
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write("main.tf", row.line);
      BOOST_TEST(SourceExcerpts(directory.path().string()).at({"main.tf", Range{{1, 1, 0}, {1, 2, 1}}}) ==
                 (row.is_shown ? "     1 | " + row.line + "\n       | ^\n" : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_to_show) {
  const TemporaryDirectory directory;
  const Range range{{1, 1, 0}, {1, 2, 1}};
  directory.write("main.tf", "a\n");
  for (const char* name : {"secret.tfvars", "secret.tfvars.json", "secret.vars", "secret.hcl", "secret.json", "secret",
                           ".terraform/modules/net/main.tf"}) {
    directory.write(name, "password = x\n");
    BOOST_TEST(SourceExcerpts(directory.path().string()).at({name, range}).empty(), name);
  }
  BOOST_TEST(SourceExcerpts(directory.path().string()).at({"none.tf", range}).empty());
  BOOST_TEST(SourceExcerpts(directory.path().string()).at({"main.tf", std::nullopt}).empty());
}

BOOST_AUTO_TEST_CASE(several_files) {
  const TemporaryDirectory directory;
  directory.write("a.tf", "a\n");
  directory.write("b.tofu", "b\n");
  SourceExcerpts excerpts(directory.path().string());
  const Range range{{1, 1, 0}, {1, 2, 1}};
  BOOST_TEST(excerpts.at({"a.tf", range}) == "     1 | a\n       | ^\n");
  BOOST_TEST(excerpts.at({"b.tofu", range}) == "     1 | b\n       | ^\n");
  BOOST_TEST(excerpts.at({"none.tf", range}) == "");
  BOOST_TEST(excerpts.at({"a.tf", range}) == "     1 | a\n       | ^\n");
}

BOOST_AUTO_TEST_SUITE_END()
