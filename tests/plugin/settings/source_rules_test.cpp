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

BOOST_AUTO_TEST_CASE(globs_of_rules_that_restrict) {
  struct Row {
    std::string_view glob;
    std::string_view identity;
    bool matches;
  };
  const Row rows[] = {
      {"git::https://h/p.git", "git::https://h/p.git", true},
      {"git::https://h/p.git", "git::https://h/p.git?ref=v1", true},
      {"git::https://h/p.git", "git::https://h/p.git//sub", true},
      {"git::https://h/p.git", "git::https://h/p.git//sub?ref=v1", true},
      {"git::https://h/p.git//sub", "git::https://h/p.git//sub?ref=v1", true},
      {"git::https://h/p.git?ref=v1", "git::https://h/p.git//sub?ref=v1", true},
      {"git::https://h/p.git//sub?ref=v1", "git::https://h/p.git//sub?ref=v1", true},
      {"git::https://h/p.git//sub", "git::https://h/p.git//other?ref=v1", false},
      {"git::https://h/p.git?ref=v1", "git::https://h/p.git?ref=v2", false},
      {"git::https://h/p", "git::https://h/p.git", true},
      {"git::https://h/p.git", "git::https://h/p//sub?ref=v1", true},
      {"git::https://h/p.git", "git::https://h/p.git/?ref=v1", true},
      {"git::https://h/p.git", "git::https://h/p/", true},
      {"git::https://h/p.git/", "git::https://h/p.git", true},
      {"git::https://h/P.git", "git::https://h/p.git?ref=V1", true},
      {"git::https://h/p.git", "git::http://h/p.git?ref=v1", true},
      {"git::https://github.com/a/*", "git::https://www.github.com/a/p.git?ref=v1", true},
      {"git::ssh://git@github.com/a/*", "git::ssh://git@ssh.github.com:443/a/p.git", true},
      {"git::ssh://git@gitlab.com/a/*", "git::ssh://git@altssh.gitlab.com:443/a/p.git", true},
      {"git::ssh://git@github.com/a/*", "git::ssh://git@ssh.github.com/a/p.git", true},
      {"git::ssh://git@github.com/a/*", "git::ssh://git@ssh.github.com:444/a/p.git", false},
      {"git::ssh://h/a/*", "git::ssh://h/~/a/p.git", true},
      {"git::ssh://u@h/~/a/*", "git::ssh://u@h/a/p.git", true},
      {"git::ssh://h/b/*", "git::ssh://h/~b/p.git", false},
      {"git::https://h/p", "git::https://h/p.GIT", true},
      {"git::https://h/p.git", "git::ssh://h/p.git", false},
      {"git::https://h/p.git", "git::https://h/pp.git", false},
      {"*.git", "r/modules/n/p/s", false},
      {"git::file:///p", "git::file:///p//sub", true},
      {"r/modules/n/p/s", "r/modules/n/p/s//sub", true},
      {"https://h/p.zip", "https://h/p.zip?checksum=file:https://h//sums", true},
      {"./net", "./net", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.glob << " on " << row.identity) {
      BOOST_TEST(matches_source(row.glob, row.identity) == row.matches);
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

// A glob of URLs denies redirects of any kind of source that lead into it, but none within it.
BOOST_AUTO_TEST_CASE(redirects) {
  struct Row {
    const char* name;
    const char* rule;
    const char* identity;
    const char* from;
    const char* to;
    bool allowed;
  };
  constexpr const char* kGit = "git::https://new.test/p";
  constexpr const char* kBlob = "https://new.test/p";
  constexpr const char* kOld = "https://old.test/p";
  const Row rows[] = {
      {"URL, git", R"(deny_sources = ["https://new.test/*"])", kGit, kOld, kBlob, false},
      {"address, git", R"(deny_sources = ["git::https://new.test/*"])", kGit, kOld, kBlob, false},
      {"any, git", R"(deny_sources = ["*new.test*"])", kGit, kOld, kBlob, false},
      {"URL in other case", R"(deny_sources = ["HTTPS://New.Test/P"])", kGit, kOld, kBlob, false},
      {"URL, archive", R"(deny_sources = ["https://new.test/*"])", kBlob, kOld, kBlob, false},
      {"address of git, archive", R"(deny_sources = ["git::https://new.test/*"])", kBlob, kOld, kBlob, true},
      {"no archives, git", R"(deny_sources = ["https://*"])", kGit, kOld, kBlob, true},
      {"no archives, and not this server", R"(deny_sources = ["https://*", "https://new.test/*"])", kGit, kOld, kBlob,
       false},
      {"no archives of this server, moved on it", R"(deny_sources = ["https://new.test/*"])", kGit,
       "https://new.test/old", kBlob, true},
      {"a directory of a server", R"(deny_sources = ["https://new.test/p*"])", kGit, "https://new.test/old", kBlob,
       false},
      {"another server", R"(deny_sources = ["https://other.test/*"])", kGit, kOld, kBlob, true},
      {"http to https, no archives", R"(deny_sources = ["*://old.test/*"])", "git::https://old.test/p",
       "http://old.test/p", kOld, false},
      {"allowed address", R"(allow_sources = ["git::https://new.test/*"])", kGit, kOld, kBlob, true},
      {"only the URL is allowed", R"(allow_sources = ["https://new.test/*"])", kGit, kOld, kBlob, false},
      {"a URL that a response names", R"(deny_sources = ["https://new.test/*"])", kBlob, "", kBlob, false},
      {"not redirected", R"(deny_sources = ["https://new.test/*"])", kGit, "", "", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Setup setup;
      setup.write(kNear, row.rule + std::string("\n"));
      const auto settings = setup.load();
      BOOST_TEST_REQUIRE(settings.has_value());
      BOOST_TEST(check_source_allowed(*settings, row.identity, {row.from, row.to}).has_value() == row.allowed);
      BOOST_TEST(check_source_allowed(Settings{}, row.identity, {row.from, row.to}).has_value());
    }
  }
  Setup setup;
  setup.write(kNear, "allow_sources = [\"git::https://old.test/*\"]\n");
  const auto settings = setup.load();
  for (const auto& [identity, hint] :
       {std::pair{kGit, "if you trust this server, add \"git::https://new.test/*\" to allow_sources"},
        std::pair{kBlob, "if you trust this server, add \"https://new.test/*\" to allow_sources"}}) {
    const auto refused = check_source_allowed(*settings, identity, {kOld, kBlob});
    BOOST_TEST_REQUIRE(!refused.has_value());
    BOOST_TEST(refused.error().hint == hint);
  }
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
      {"the default port of https", "git::https://h:443/bad", false},
      {"the default port of ssh", "git::ssh://git@h:22/bad", false},
      {"the default port of http", "git::http://h:80/bad", false},
      {"the default port of another protocol", "git::https://h:22/p", true},
      {"a host that ends with a dot before its port", "git::https://h.:443/bad", false},
      {"below the home directory", "git::ssh://git@h/~/bad", false},
      {"below the home directory of an alias", "git::ssh://h/~/other", false},
      {"the home directory of a name", "git::ssh://git@h/~name/p", true},
      {"an escaped slash", "git::https://h/evil%2Fbad", false},
      {"an escaped slash in a parent segment", "git::https://h/good/..%2fbad", false},
      {"an escaped backslash", "git::https://h/x%5Cbad", false},
      {"an escaped space", "git::https://h/a%20b", true},
      {"an IPv4 address", "git::https://127.0.0.1:8443/p", true},
      {"an IPv4 address of two numbers", "git::https://127.1/p", false},
      {"a hexadecimal IPv4 address", "https://0x7f000001/p.zip", false},
      {"an octal IPv4 address", "git::ssh://git@0177.0.0.1/p", false},
      {"an IPv4 address of one number", "oci://2130706433:5000/p", false},
      {"an IPv6 address", "git::https://[::1]:8443/p", true},
      {"an IPv6 address without a port", "git::https://[2001:db8::1]/p", true},
      {"a long IPv6 address", "git::https://[0:0:0:0:0:0:0:1]/p", false},
      {"an IPv4 address as IPv6", "git::https://[::ffff:127.0.0.1]:8443/p", false},
      {"a name like a number", "git::https://0xcafe.example.com/p", true},
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
  setup.write("keys", "");
  setup.write(kNear, "source \"git::file:///t/*\" {\n  signed_by_ssh = \"keys\"\n}\n");
  const auto demanding = setup.load();
  BOOST_TEST_REQUIRE(demanding.has_value());
  BOOST_TEST(check_source_allowed(*demanding, "git::file:///t/n").has_value());
  for (const char* identity : {"git::file:///./t/n", "git::file:///%74/n", "git::ssh://h/~/t/n"}) {
    const auto refused = check_source_allowed(*demanding, identity);
    BOOST_TEST_REQUIRE(!refused.has_value());
    BOOST_TEST(refused.error().message == std::string("the source \"") + identity +
                                              "\" is not written in its plain form, so the rules of "
                                              ".tofu-modlock.hcl:1 cannot match it");
  }
  const auto denied = check_source_allowed(*settings, "git::https://h/./bad");
  BOOST_TEST(denied.error().message ==
             "the source \"git::https://h/./bad\" is not written in its plain form, so the rules of "
             ".tofu-modlock.hcl:1 cannot match it");
}

BOOST_AUTO_TEST_CASE(only_deny_lists_match_without_query_and_directory) {
  Setup setup;
  setup.write(kNear, "deny_sources = [\"git::https://h/bad.git\"]\nallow_sources = [\"git::https://h/good.git\"]\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(check_source_allowed(*settings, "git::https://h/good.git").has_value());
  const auto denied = check_source_allowed(*settings, "git::https://h/bad.git//sub?ref=v1");
  BOOST_TEST_REQUIRE(!denied.has_value());
  BOOST_TEST(denied.error().message ==
             "the source \"git::https://h/bad.git//sub?ref=v1\" is denied by \"git::https://h/bad.git\" in "
             ".tofu-modlock.hcl:1");
  const auto not_allowed = check_source_allowed(*settings, "git::https://h/good.git?ref=v1");
  BOOST_TEST_REQUIRE(!not_allowed.has_value());
  BOOST_TEST(not_allowed.error().message ==
             "the source \"git::https://h/good.git?ref=v1\" matches no entry of allow_sources in .tofu-modlock.hcl:2");
}

BOOST_AUTO_TEST_CASE(an_empty_allow_list_allows_nothing) {
  Setup setup;
  setup.write(kNear, "allow_sources = []\n");
  BOOST_TEST(!check_source_allowed(setup.load().value(), "git::https://h/p").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
