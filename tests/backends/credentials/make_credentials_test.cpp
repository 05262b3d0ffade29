#include "backends/credentials/make_credentials.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(make_credentials_for_downloads)

BOOST_AUTO_TEST_CASE(the_netrc_file_of_the_user) {
  User user;
  const auto look = [&user]() {
    const auto credentials = make_credentials({}, user.environment());
    return shown(credentials->find(CredentialUse::download, "example.com", "", Context{})) + "\n" +
           shown(credentials->places(CredentialUse::download, "example.com", "", Context{}));
  };
  BOOST_TEST(look() == "none\nfile ~/.netrc: not there\n");
  user.write(".netrc", "machine other login u password canary-1\n");
  BOOST_TEST(look() == "none\nfile ~/.netrc: no entry for example.com\n");
  user.write(".netrc", "\ndefault login u password canary-1\n");
  BOOST_TEST(look() == "basic u:canary-1\ndefault in ~/.netrc:2: used\n");
  user.set("NETRC", "own");
  BOOST_TEST(look() == "none\nfile ~/own: not there\n");
  user.write("own", "machine example.com login v password canary-2");
  BOOST_TEST(look() == "basic v:canary-2\nmachine example.com in ~/own:1: used\n");
  user.write("own", "canary-3");
  BOOST_TEST(look() ==
             "CONFIG_PARSE ~/own:1: a keyword was expected (machine, default, login, password, account)\n"
             "file ~/own: not usable: ~/own:1: a keyword was expected (machine, default, login, password, account)\n");
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_passed_over) {
  User user;
  user.write(".netrc/inside", "machine example.com login u password canary-1");
  const auto find = [&user]() {
    return shown(make_credentials({}, user.environment())->find(CredentialUse::download, "example.com", "", Context{}));
  };
  BOOST_TEST(find() == "none");
  user.set("NETRC", user.path(".netrc/inside/deeper").string());
  BOOST_TEST(find() == "none");
}

BOOST_AUTO_TEST_CASE(without_a_home) {
  const auto credentials = make_credentials({}, ProcessEnvironment{});
  BOOST_TEST(shown(credentials->places(CredentialUse::download, "example.com", "", Context{})) ==
             "file ~/.netrc: no home directory is known\n");
}

BOOST_AUTO_TEST_SUITE_END()
