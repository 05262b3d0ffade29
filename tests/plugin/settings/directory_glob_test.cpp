#include "plugin/settings/directory_glob.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(directory_glob)

BOOST_AUTO_TEST_CASE(what_matches) {
  struct Row {
    const char* glob;
    const char* path;
    bool matches;
  };
  const Row rows[] = {
      {"live", "live", true},
      {"live", "live/prod", false},
      {"live", "old/live", false},
      {"live/", "live", true},
      {"./live", "live", true},
      {"live/./prod", "live/prod", true},
      {".", ".", true},
      {".", "live", false},
      {"*", "live", true},
      {"*", "live/prod", false},
      {"live/*", "live/prod", true},
      {"live/*", "live", false},
      {"live/*", "live/prod/eu", false},
      {"live/*/eu", "live/prod/eu", true},
      {"live/**", "live/prod/eu", true},
      {"live/**", "live/prod", true},
      {"live/**", "live", false},
      {"**/eu", "eu", true},
      {"**/eu", "live/prod/eu", true},
      {"live/**/eu", "live/eu", true},
      {"live/**/eu", "live/a/b/eu", true},
      {"**", "live/prod", true},
      {"live/pr*d", "live/prod", true},
      {"live/pr?d", "live/prod", true},
      {"live/pr?d", "live/pr/d", false},
      {"live/{prod,stage}", "live/stage", true},
      {"live/[a-p]rod", "live/prod", true},
      {"live/[^p]rod", "live/prod", false},
      {"live/\\*", "live/*", true},
      {"live/\\*", "live/prod", false},
      {"live.d", "live-d", false},
      {"live/..prod", "live/..prod", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.glob << " and " << row.path) {
      const auto glob = DirectoryGlob::parse(row.glob);
      BOOST_TEST_REQUIRE(glob.has_value());
      BOOST_TEST(glob->matches(row.path) == row.matches);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_a_glob) {
  struct Row {
    const char* glob;
    const char* reason;
  };
  const Row rows[] = {
      {"", "must not be empty"},
      {"/live", "must not be an absolute path"},
      {"..", "must not contain \"..\""},
      {"../live", "must not contain \"..\""},
      {"live/../prod", "must not contain \"..\""},
      {"live/..", "must not contain \"..\""},
      {"live/[a", "has brackets or braces that are not closed"},
      {"live/{a,b", "has brackets or braces that are not closed"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.glob) {
      const auto glob = DirectoryGlob::parse(row.glob);
      BOOST_TEST_REQUIRE(!glob.has_value());
      BOOST_TEST((glob.error().code == Code::config_parse));
      BOOST_TEST(glob.error().message == row.reason);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
