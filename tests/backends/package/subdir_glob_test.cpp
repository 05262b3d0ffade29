#include "backends/package/tree_scan.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

BOOST_AUTO_TEST_SUITE(subdir_glob)

BOOST_AUTO_TEST_CASE(patterns_mean_what_they_mean_to_the_clients) {
  const TemporaryDirectory directory;
  for (const char* name : {"sub", "sib", "s!b", "net/a", "net/[x", "other/deep/er"}) {
    std::filesystem::create_directories(directory / name);
  }
  struct Row {
    const char* name;
    const char* pattern;
    const char* outcome;
  };
  for (const Row& row : {
           Row{"no pattern", "nowhere/at/all", "nowhere/at/all"},
           Row{"a star", "o*", "other"},
           Row{"a question mark", "su?", "sub"},
           Row{"several levels", "o*/d*/e?", "other/deep/er"},
           Row{"a set", "s[xu]b", "sub"},
           Row{"not in a set", "s[^i!]b", "sub"},
           Row{"an exclamation mark in a set", "s[!x]b", "s!b"},
           Row{"an exclamation mark or a letter", "si[!b]", "sib"},
           Row{"a bracket in a set", "net/[[]x", "net/[x"},
           Row{"an escaped bracket", "net/\\[?", "net/[x"},
           Row{"nothing", "z*", "NOT_FOUND: no directory of the package matches \"z*\""},
           Row{"several", "s?b",
               "SOURCE_INVALID: \"s?b\" matches more than one directory of the package: \"s!b\" and \"sib\""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = expand_subdir(directory.path(), row.pattern);
      BOOST_TEST((found ? *found : fmt::format("{}: {}", to_string(found.error().code), found.error().message)) ==
                 row.outcome);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
