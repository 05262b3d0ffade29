#include "backends/git/remote_address.h"

#include <boost/test/unit_test.hpp>

#include "backends/address/source_remote.h"
#include "backends/git/git_command.h"
#include "tests/backends/git/git_fixture.h"

namespace modlock::git {
namespace {

using test::outcome;

SourceAddress address_of(const std::string& url) {
  SourceAddress source;
  source.source = Source{.kind = SourceKind::git,
                         .getter = "git",
                         .scheme = "https",
                         .user = {},
                         .host = "h.test",
                         .path = "/m.git",
                         .subdir = {},
                         .query = {}};
  source.package_url = SecretText(url);
  return source;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(remote_address)

BOOST_AUTO_TEST_CASE(user_info_is_split_off) {
  struct Row {
    const char* name;
    const char* text;
    const char* url;
    const char* username;
    const char* password;       // null: none
    const char* full_url = "";  // where there is a query
  };
  for (const Row& row : {
           Row{"none", "https://h.test/m.git", "https://h.test/m.git", "", nullptr},
           Row{"both", "https://u:p%40%2F@h.test:8443/m.git", "https://h.test:8443/m.git", "u", "p@/"},
           Row{"a token as user", "https://token@h.test/m.git", "https://h.test/m.git", "token", nullptr},
           Row{"empty password", "https://token:@h.test/m.git", "https://h.test/m.git", "token", ""},
           Row{"http", "http://u:p@h.test/m.git", "http://h.test/m.git", "u", "p"},
           Row{"ssh keeps its user", "ssh://git:p@h.test/m.git", "ssh://git@h.test/m.git", "", nullptr},
           Row{"an alias of ssh", "work:/srv/m", "work:/srv/m", "", nullptr},
           Row{"a relative path", "Work:m.git", "Work:m.git", "", nullptr},
           Row{"dots", "https://h.test/a/./b/../m.git", "https://h.test/a/m.git", "", nullptr},
           Row{"dots of ssh", "ssh://h.test/a/../m.git", "ssh://h.test/a/../m.git", "", nullptr},
           Row{"file", "file:///tmp/m.git", "file:///tmp/m.git", "", nullptr},
           Row{"query", "https://u:p@h.test/m.git?token=T0KEN", "https://h.test/m.git", "u", "p",
               "https://h.test/m.git?token=T0KEN"},
           Row{"empty query", "https://h.test/m.git?", "https://h.test/m.git", "", nullptr, "https://h.test/m.git?"},
           Row{"ssh with a query", "ssh://git:p@h.test/m.git?a=b", "ssh://git@h.test/m.git", "", nullptr,
               "ssh://git@h.test/m.git?a=b"},
           Row{"fragment", "https://h.test/m.git#T0KEN", "https://h.test/m.git", "", nullptr},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = make_remote_address(address_of(row.text));
      BOOST_TEST(outcome(address) == "ok");
      BOOST_TEST(address->url == row.url);
      BOOST_TEST(address->full_url.reveal() == row.full_url);
      BOOST_TEST(address->username.reveal() == row.username);
      BOOST_TEST(address->password.has_value() == (row.password != nullptr));
      if (row.password != nullptr && address->password) {
        BOOST_TEST(address->password->reveal() == row.password);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_helper_of_git_is_only_for_addresses_that_were_allowed) {
  struct Row {
    const char* name;
    const char* source;
    const char* identity;
    const char* url;
  };
  const auto environment = [](const char*) { return std::optional<std::string>(); };
  for (const Row& row : {
           Row{"no region", "git::codecommit://repo//sub?ref=v1", "git::codecommit://repo//sub?ref=v1",
               "codecommit://repo"},
           Row{"a region and a profile", "git::codecommit::eu-west-1://me:p@repo?depth=1&ref=v1",
               "git::codecommit::eu-west-1://me@repo?ref=v1", "codecommit::eu-west-1://me@repo"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      SourceAddress source = parse_source(row.source).value();
      BOOST_TEST(outcome(make_remote_address(source)).starts_with("SOURCE_DENIED"));
      serve_by_git_helper(source);
      BOOST_TEST(source.source.has_commits());
      BOOST_TEST(source.source.identity() == row.identity);
      const auto address = make_remote_address(source);
      BOOST_REQUIRE_EQUAL(outcome(address), "ok");
      BOOST_TEST(address->url == row.url);
      BOOST_TEST(address->full_url.empty());
      BOOST_TEST(network_command(*address, {}, environment).set_environment.at("GIT_ALLOW_PROTOCOL") ==
                 "https:http:ssh:git:file:codecommit");
    }
  }
  for (const char* text : {"codecommit://repo", "codecommit::eu-west-1://repo"}) {
    BOOST_TEST(outcome(make_remote_address(address_of(text))).starts_with("SOURCE_DENIED"), text);
  }
  for (const char* text : {"git::https://h.test/m.git", "foo::codecommit://repo", "s3::https://h.test/a.zip"}) {
    SourceAddress source = parse_source(text).value();
    const Source before = source.source;
    serve_by_git_helper(source);
    BOOST_TEST((source.source == before), text);
  }
}

BOOST_AUTO_TEST_CASE(what_git_must_not_be_given_is_refused) {
  struct Row {
    const char* name;
    const char* text;
    const char* why;
  };
  constexpr const char* kOption = "its host, user or path starts with \"-\" and would be taken for an option";
  for (const Row& row : {
           Row{"helper", "ext::sh -c id", "its transport \"ext\" is not one of https, http, ssh, git and file"},
           Row{"unknown scheme", "foo://h.test/m",
               "its transport \"foo\" is not one of https, http, ssh, git and file"},
           Row{"host as option", "ssh://-oProxyCommand=id/m", kOption},
           Row{"user as option", "ssh://-oProxyCommand=id@h.test/m", kOption},
           Row{"path as option", "ssh://h.test/-m", kOption},
           Row{"line end", "https://h.test/m\n.git", "it holds a control character"},
           Row{"encoded line end in the password", "https://u:p%0aq@h.test/m.git",
               "it holds a percent-encoded control character"},
           Row{"encoded NUL in the path", "https://h.test/m%00.git", "it holds a percent-encoded control character"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(make_remote_address(address_of(row.text))) ==
                 "SOURCE_DENIED: the git source \"git::https://h.test/m.git\" is refused: " + std::string(row.why));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
