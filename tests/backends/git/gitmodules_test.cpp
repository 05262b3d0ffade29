#include "backends/git/gitmodules.h"

#include <boost/test/unit_test.hpp>

namespace modlock::git {

BOOST_AUTO_TEST_CASE(relative_urls_start_at_the_superproject) {
  struct Row {
    const char* name;
    const char* superproject;
    const char* url;
    const char* expected;
  };
  for (const Row& row : {
           Row{"a sibling", "https://h.test/a/b.git", "../c.git", "https://h.test/a/c.git"},
           Row{"with user-info", "https://u:p@h.test/a/b.git", "../c.git", "https://u:p@h.test/a/c.git"},
           Row{"below", "https://h.test/a/b.git", "./c.git", "https://h.test/a/b.git/c.git"},
           Row{"a slash at the end", "https://h.test/a/b/", "../c/", "https://h.test/a/c"},
           Row{"two up", "ssh://git@h.test/a/b.git", "../../x/c.git", "ssh://git@h.test/x/c.git"},
           Row{"up from scp", "git@h.test:a/b.git", "../c.git", "git@h.test:a/c.git"},
           Row{"up to the colon of scp", "git@h.test:b.git", "../c.git", "git@h.test:c.git"},
           Row{"past the host", "https://h.test/b.git", "../../evil.test/c.git", "https://evil.test/c.git"},
           Row{"absolute", "https://h.test/b.git", "https://other.test/c.git", "https://other.test/c.git"},
           Row{"a name alone", "https://h.test/b.git", "c.git", "c.git"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(resolve_submodule_url(row.superproject, row.url) == row.expected);
    }
  }
}

}  // namespace modlock::git
