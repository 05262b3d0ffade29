#include "backends/address/git_reference.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(git_reference)

BOOST_AUTO_TEST_CASE(tags_and_their_spellings) {
  struct Row {
    const char* name;
    const char* ref;
    const char* plain;
    const char* tag;
    const char* other_tag;  // reference_to_tag(ref, "v2")
  };
  for (const Row& row : {
           Row{"nothing", "", "", "", "v2"},
           Row{"a name", "v1", "v1", "v1", "v2"},
           Row{"a name with a directory", "net/v1", "net/v1", "net/v1", "v2"},
           Row{"below tags", "tags/v1", "tags/v1", "v1", "tags/v2"},
           Row{"the full name", "refs/tags/v1", "refs/tags/v1", "v1", "refs/tags/v2"},
           Row{"peeled", "v1^{}", "v1", "v1", "v2"},
           Row{"the full name, peeled", "refs/tags/v1^{}", "refs/tags/v1", "v1", "refs/tags/v2"},
           Row{"its commit", "v1^{commit}", "v1", "v1", "v2"},
           Row{"no parent", "v1^0", "v1", "v1", "v2"},
           Row{"no step back", "v1~0", "v1", "v1", "v2"},
           Row{"zeros", "v1~000", "v1", "v1", "v2"},
           Row{"several", "v1^{}~0^0^{commit}", "v1", "v1", "v2"},
           Row{"described", "v1-0-g8f2c0d0", "v1-0-g8f2c0d0", "v1", "v2"},
           Row{"the full name, described", "tags/v1-0-g8f2c0d0^0", "tags/v1-0-g8f2c0d0", "v1", "tags/v2"},
           Row{"commits after the tag", "v1-3-g8f2c0d0", "v1-3-g8f2c0d0", "v1-3-g8f2c0d0", "v2"},
           Row{"no id after the mark", "v1-0-good", "v1-0-good", "v1-0-good", "v2"},
           Row{"a parent", "v1^", "v1^", "v1^", "v2"},
           Row{"the first parent", "v1~1", "v1~1", "v1~1", "v2"},
           Row{"ten steps back", "v1~10", "v1~10", "v1~10", "v2"},
           Row{"a parent of its commit", "v1^{}~1", "v1~1", "v1~1", "v2"},
           Row{"another kind", "v1^{tree}", "v1^{tree}", "v1^{tree}", "v2"},
           Row{"HEAD", "HEAD", "HEAD", "", "v2"},
           Row{"HEAD itself", "HEAD~0", "HEAD", "", "v2"},
           Row{"its short name", "@", "@", "", "v2"},
           Row{"a branch by its full name", "refs/heads/v1", "refs/heads/v1", "", "v2"},
           Row{"a branch of the remote", "origin/v1", "origin/v1", "", "v2"},
           Row{"a branch below heads", "heads/v1", "heads/v1", "", "v2"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(without_peeling(row.ref) == row.plain);
      BOOST_TEST(tag_in_reference(row.ref) == row.tag);
      BOOST_TEST(reference_to_tag(row.ref, "v2") == row.other_tag);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_default_branch_has_several_names) {
  for (const char* name : {"", "HEAD", "@", "origin/HEAD", "remotes/origin/HEAD", "refs/remotes/origin/HEAD"}) {
    BOOST_TEST(is_default_branch(name), name);
  }
  for (const char* name : {"main", "refs/HEAD", "remotes/HEAD", "origin/main", "upstream/HEAD", "origin/HEAD~1",
                           "refs/heads/origin/HEAD", "xorigin/HEAD", "origin"}) {
    BOOST_TEST(!is_default_branch(name), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
