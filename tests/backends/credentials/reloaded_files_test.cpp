#include "backends/credentials/reloaded_files.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(kept_files)

BOOST_AUTO_TEST_CASE(files_are_read_again_once_one_has_changed) {
  const User user;
  ReloadedFiles<int> kept({"/bin/sh", user.path("a")});
  int reads = 0;
  const auto get = [&kept, &reads]() { return *kept.get([&reads]() { return ++reads; }); };
  BOOST_TEST(get() == 1);
  BOOST_TEST(get() == 1);
  user.write("a", "x");
  BOOST_TEST(get() == 2);
  std::filesystem::remove(user.path("a"));
  BOOST_TEST(get() == 3);
  BOOST_TEST(get() == 3);
}

BOOST_AUTO_TEST_CASE(who_holds_a_value_keeps_it) {
  const User user;
  ReloadedFiles<int> kept({user.path("a")});
  const auto held = kept.get([]() { return 1; });
  user.write("a", "x");
  BOOST_TEST(*kept.get([]() { return 2; }) == 2);
  BOOST_TEST(*held == 1);
}

BOOST_AUTO_TEST_CASE(identities_differ) {
  const User user;
  user.write("a", "1");
  user.write("b", "1");
  const FileIdentity a = identity_of(user.path("a"));
  BOOST_TEST((a == identity_of(user.path("a"))));
  BOOST_TEST((a != identity_of(user.path("b"))));
  BOOST_TEST((a != identity_of(user.path("none"))));
  BOOST_TEST((identity_of(user.path("none")) != identity_of(user.path("a/none"))));
  user.write("a", "12");
  BOOST_TEST((a != identity_of(user.path("a"))));
}

BOOST_AUTO_TEST_CASE(a_change_within_the_tick_of_the_last_one_may_not_show) {
  const FileIdentity identity{.changed = 5};
  BOOST_TEST(!identity.is_settled(5 + FileIdentity::kTick));
  BOOST_TEST(identity.is_settled(6 + FileIdentity::kTick));
  BOOST_TEST(!identity.is_settled(4));
  BOOST_TEST(FileIdentity{.reason = ENOENT}.is_settled(0));
}

BOOST_AUTO_TEST_SUITE_END()
