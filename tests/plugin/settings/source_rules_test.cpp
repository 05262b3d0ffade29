#include <boost/test/unit_test.hpp>

#include "plugin/settings/settings.h"
#include "tests/plugin/config/check_error.h"
#include "tests/plugin/config/settings_setup.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(source_rules)

BOOST_AUTO_TEST_CASE(globs) {
  struct Row {
    std::string_view glob;
    std::string_view text;
    bool matches;
  };
  const Row rows[] = {
      {"", "", true},
      {"", "a", false},
      {"*", "", true},
      {"*", "a/b", true},
      {"a", "a", true},
      {"a", "ab", false},
      {"a*", "a", true},
      {"a*c", "abbc", true},
      {"a*c", "abcb", false},
      {"*b*", "abc", true},
      {"a**", "a", true},
      {"*aab", "aaaab", true},
      {"a*b*c", "axbxbxc", true},
      {"a?c", "abc", false},
      {"*.git", "x.git/y", false},
      {"git::https://h/*", "git::https://h/p.git//s?ref=1", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.glob << " on " << row.text) {
      BOOST_TEST(matches_glob(row.glob, row.text) == row.matches);
    }
  }
}

BOOST_AUTO_TEST_CASE(allowed_sources) {
  Setup setup;
  setup.write(kNear, "allow_sources = [\"git::https://h/*\", \"oci://*\"]\n");
  setup.write("user.hcl", "deny_sources = [\"*/evil*\"]\n\nallow_sources = [\"git::*\"]\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(check_source_allowed(*settings, "git::https://h/p").has_value());
  const std::string user = (setup.directory / "user.hcl").generic_string();
  const auto denied = check_source_allowed(*settings, "git::https://h/evil.git");
  BOOST_TEST_REQUIRE(!denied.has_value());
  check_error(denied.error(),
              {Code::source_denied, "the source \"git::https://h/evil.git\" is denied by \"*/evil*\" in " + user + ":1",
               user + ":1:17"});
  const auto not_near = check_source_allowed(*settings, "git::ssh://h/p");
  BOOST_TEST_REQUIRE(!not_near.has_value());
  check_error(
      not_near.error(),
      {Code::source_denied, "the source \"git::ssh://h/p\" matches no entry of allow_sources in .tofu-modlock.hcl:1",
       ".tofu-modlock.hcl:1:1"});
  const auto not_far = check_source_allowed(*settings, "oci://h/p");
  BOOST_TEST_REQUIRE(!not_far.has_value());
  check_error(not_far.error(),
              {Code::source_denied, "the source \"oci://h/p\" matches no entry of allow_sources in " + user + ":3",
               user + ":3:1"});
  BOOST_TEST(check_source_allowed(Settings{}, "anything").has_value());
}

BOOST_AUTO_TEST_CASE(lists_refuse_addresses_that_have_a_plainer_spelling) {
  struct Row {
    const char* name;
    const char* identity;
    bool allowed;
  };
  const Row rows[] = {
      {"plain", "git::https://h/p/x.git//sub?ref=v1.0", true},
      {"dots inside names", "git::https://h.example/..p/x..y/.z", true},
      {"an escape that is needed", "git::https://h/a%20b", true},
      {"a port", "git::https://h:8443/p", true},
      {"parent segment", "git::https://h/x/../bad/y", false},
      {"own segment", "git::https://h/./bad/y", false},
      {"parent segment at the end", "git::https://h/x/..?ref=v1", false},
      {"an escaped letter", "git::https://h/b%61d", false},
      {"an escaped dot", "git::https://h/%2E./bad", false},
      {"a port with a leading zero", "git::https://h:08443/bad", false},
      {"a host that ends with a dot", "git::https://h./bad", false},
      {"a host that ends with a dot before its port", "git::https://h.:443/bad", false},
  };
  Setup setup;
  setup.write(kNear, "deny_sources = [\"git::https://h/bad*\"]\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(check_source_allowed(*settings, row.identity).has_value() == row.allowed);
      BOOST_TEST(check_source_allowed(Settings{}, row.identity).has_value());
    }
  }
  const auto denied = check_source_allowed(*settings, "git::https://h/./bad");
  BOOST_TEST(denied.error().message ==
             "the source \"git::https://h/./bad\" is not written in its plain form, so the lists of "
             ".tofu-modlock.hcl:1 cannot match it");
}

BOOST_AUTO_TEST_CASE(an_empty_allow_list_allows_nothing) {
  Setup setup;
  setup.write(kNear, "allow_sources = []\n");
  BOOST_TEST(!check_source_allowed(setup.load().value(), "git::https://h/p").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
