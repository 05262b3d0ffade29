#include "plugin/server/asking_once.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/fake_backend.h"

// What several roots of one run ask is asked once.
namespace modlock::test {
namespace {

constexpr const char* kPackage = "git::https://example.com/vpc.git";

struct Fixture {
  Fixture() {
    auto fake = std::make_unique<FakeBackend>();
    asked = fake.get();
    asked->add_tag(kPackage, "v1.0.0", {{"main.tf", ""}});
    asked->add_branch(kPackage, "main", {{"main.tf", ""}});
    once = make_asking_once_backend(std::move(fake));
  }
  SourceAddress source = parse_source(kPackage).value();
  FakeBackend* asked = nullptr;
  std::unique_ptr<Backend> once;
  Context context;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(asking_once, Fixture)

BOOST_AUTO_TEST_CASE(a_listing_says_whether_it_is_told_again) {
  for (const bool again : {false, true, true}) {
    const auto listing = once->list_versions(source, "", context);
    BOOST_TEST_REQUIRE(listing.has_value());
    BOOST_TEST(listing->versions.size() == 1U);
    BOOST_TEST(listing->is_again == again);
  }
  BOOST_TEST(asked->listings == 1);
  BOOST_TEST(!once->list_versions(source, "vpc/", context)->is_again);
  BOOST_TEST(asked->listings == 2);
}

BOOST_AUTO_TEST_CASE(a_reference_says_whether_it_is_told_again) {
  for (const bool again : {false, true}) {
    const auto pin = once->pin(source, context);
    BOOST_TEST_REQUIRE(pin.has_value());
    BOOST_TEST(pin->ref == "refs/heads/main");
    BOOST_TEST(pin->is_again == again);
  }
  BOOST_TEST(asked->pins == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
