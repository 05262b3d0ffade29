#include <boost/test/unit_test.hpp>

#include "tests/plugin/install/origin_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(origin_content)

// A store that has never fetched the locked commit cannot tell whether its content is the locked one.
BOOST_AUTO_TEST_CASE(origin_is_asked_for_the_content_of_an_unknown_commit) {
  struct Row {
    const char* name;
    const char* query;
    const char* constraint;
    FakeBackend::Files content;  // of the locked commit; none: nothing leads to it
    const char* expected;
  };
  const FakeBackend::Files locked = {{"main.tf", ""}};
  constexpr const char* kMovedOn =
      "update-available: the branch \"main\" moved on from 111111111111 to 222222222222; whether the new commit "
      "descends from the old one is unknown\n";
  constexpr const char* kTampered =
      "tampered: the lock file contradicts itself, for the content of its git:1111111111111111111111111111111111111111 "
      "has another checksum; take it from version control again\n";
  const Row rows[] = {
      {"version", "", "~> 1.0", locked, ""},
      {"version with other content", "", "~> 1.0", kLeaf, kTampered},
      {"branch", "?ref=main", "", locked, kMovedOn},
      {"branch with other content", "?ref=main", "", kLeaf, kTampered},
      {"branch that never led there",
       "?ref=main",
       "",
       {},
       "vanished: no such commit or reference: 1111111111111111111111111111111111111111refs/heads/main\n"},
      {"commit", "?ref=1111111111111111111111111111111111111111", "", locked, ""},
      {"commit with other content", "?ref=1111111111111111111111111111111111111111", "", kLeaf, kTampered},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OriginFixture origin;
      origin.is_store_cold = true;
      origin.fake.add_branch(kVpc, "main", {}, kNew);
      if (!row.content.empty()) {
        origin.fake.add_tag(kVpc, "v1.0.0", row.content, kOld);
      }
      const auto ask = [&] {
        return text(origin.ask(std::string(kVpc) + row.query, row.constraint, "1.0.0",
                               {std::string("git:") + kOld, kLockedH1}));
      };
      BOOST_TEST(ask() == row.expected);
      const std::size_t fetched = origin.fake.fetched.size();
      ask();
      BOOST_TEST(origin.fake.fetched.size() == fetched);  // the store knows it now
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
