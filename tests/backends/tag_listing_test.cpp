#include "backends/tag_listing.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace modlock {
namespace {

// "<version> <tag> <id> <ref>[ or <tag>]" of each version, then "- <tag>: <reason>" of each skipped tag.
std::string shown(const Listing& listing) {
  std::string text;
  for (const ListedVersion& version : listing.versions) {
    text += version.version.to_string() + " " + version.tag + " " + version.id + " " + version.ref +
            (version.ambiguous_with.empty() ? "" : " or " + version.ambiguous_with) + "\n";
  }
  for (const SkippedTag& tag : listing.skipped) {
    text += "- " + tag.tag + ": " + tag.reason + "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tag_listing)

BOOST_AUTO_TEST_CASE(tags_become_versions_newest_first) {
  struct Row {
    const char* name;
    std::vector<Tag> tags;
    const char* prefix;
    const char* expected;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, "", ""},
      {"order",
       {{"v1.0.0", "a", "r1"}, {"v1.10.0", "b", "r2"}, {"1.2.0", "c", "r3"}},
       "",
       "1.10.0 v1.10.0 b r2\n1.2.0 1.2.0 c r3\n1.0.0 v1.0.0 a r1\n"},
      {"a release is newer than its candidates",
       {{"v1.0.0-rc.1", "a", ""}, {"v1.0.0", "b", ""}},
       "",
       "1.0.0 v1.0.0 b \n1.0.0-rc.1 v1.0.0-rc.1 a \n"},
      {"no version",
       {{"latest", "a", ""}, {"v1", "b", ""}},
       "",
       "- latest: not a semantic version\n- v1: not a semantic version\n"},
      {"prefix",
       {{"net-v1.0.0", "a", ""}, {"v2.0.0", "b", ""}},
       "net-",
       "1.0.0 net-v1.0.0 a \n- v2.0.0: other prefix\n"},
      {"another text for the version",
       {{"v1.0.0_a", "x", "v1.0.0_a", "v1.0.0+a"}},
       "",
       "1.0.0+a v1.0.0_a x v1.0.0_a\n"},
      {"equal and the same",
       {{"1.2.0", "a", ""}, {"v1.2.0", "a", ""}},
       "",
       "1.2.0 1.2.0 a \n- v1.2.0: the same version and digest as \"1.2.0\"\n"},
      {"equal and different", {{"1.2.0", "a", ""}, {"v1.2.0", "b", ""}}, "", "1.2.0 1.2.0 a  or v1.2.0\n"},
      {"three of a kind",
       {{"1.2.0", "a", ""}, {"v1.2.0", "a", ""}, {"v1.2.0+x", "b", ""}},
       "",
       "1.2.0 1.2.0 a \n1.2.0+x v1.2.0+x b \n- v1.2.0: the same version and digest as \"1.2.0\"\n"},
      {"two of each build, in any order",
       {{"1.2.0+x", "d", ""}, {"1.2.0", "a", ""}, {"v1.2.0+x", "c", ""}, {"v1.2.0", "b", ""}},
       "",
       "1.2.0 1.2.0 a  or v1.2.0\n1.2.0+x 1.2.0+x d  or v1.2.0+x\n"},
      {"builds of a version, also of one commit",
       {{"v1.0.0+b", "a", ""}, {"v1.0.0+a", "a", ""}},
       "",
       "1.0.0+a v1.0.0+a a \n1.0.0+b v1.0.0+b a \n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Listing listing = list_tags(row.tags, row.prefix, {});
      merge_equal_versions(listing, "digest");
      BOOST_TEST(shown(listing) == row.expected);
      BOOST_TEST(listing.complete);
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_versions_stand_side_by_side_until_merged) {
  const Listing listing =
      list_tags({{"1.2.0", "", ""}, {"v1.3.0", "", ""}, {"v1.2.0", "", ""}, {"v1.1.0", "", ""}}, "", {});
  BOOST_TEST(shown(listing) == "1.3.0 v1.3.0  \n1.2.0 1.2.0  \n1.2.0 v1.2.0  \n1.1.0 v1.1.0  \n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock
