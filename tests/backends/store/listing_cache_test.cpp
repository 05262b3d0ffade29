#include "backends/store/listing_cache.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

const Source kSource{
    .kind = SourceKind::git, .getter = "git", .scheme = "https", .host = "example.com", .path = "/example/network.git"};

struct Kept {
  TemporaryDirectory directory;
  Store store = *Store::open(directory / "cache");
  ListingCache listings{store};
  std::chrono::system_clock::time_point time{std::chrono::seconds(1790000000)};

  Listing two_versions() const {
    return {.versions = {{.version = *Version::parse("v1.1.0-rc.1+a"),
                          .tag = "net/v1.1.0-rc.1+a",
                          .id = "b2",
                          .ref = "refs/tags/net/v1.1.0-rc.1+a",
                          .ambiguous_with = "net/1.1.0-rc.1"},
                         {.version = *Version::parse("1.0.0"), .tag = "", .id = "", .ref = "1.0.0"}},
            .skipped = {{"latest", "is no version"}},
            .fetched_at = time,
            .complete = false};
  }
  std::filesystem::path only_file() const {
    return std::filesystem::directory_iterator(store.response_directory())->path();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(kept_listings, Kept)

BOOST_AUTO_TEST_CASE(a_listing_is_found_by_what_was_asked) {
  listings.keep("git::https://example.com/network", "net/", two_versions());
  const auto found = ListingCache(store).find("git::https://example.com/network", "net/");
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST((found->fetched_at == time));
  BOOST_TEST(!found->complete);
  BOOST_TEST(found->skipped.empty());
  BOOST_REQUIRE(found->versions.size() == 2U);
  BOOST_TEST(found->versions[0].version.original() == "v1.1.0-rc.1+a");
  BOOST_TEST(found->versions[0].tag == "net/v1.1.0-rc.1+a");
  BOOST_TEST(found->versions[0].id == "b2");
  BOOST_TEST(found->versions[0].ref == "refs/tags/net/v1.1.0-rc.1+a");
  BOOST_TEST(found->versions[0].ambiguous_with == "net/1.1.0-rc.1");
  BOOST_TEST(found->versions[1].version.to_string() == "1.0.0");
  BOOST_TEST(found->versions[1].id.empty());
  BOOST_TEST(!listings.find("git::https://example.com/network", "").has_value());
  BOOST_TEST(!listings.find("git::https://example.com/other", "net/").has_value());
}

BOOST_AUTO_TEST_CASE(a_pin_is_found_by_its_source) {
  listings.keep_pin(kSource, {.id = "c3", .ref = "refs/heads/main"}, time);
  const auto found = listings.find_pin(kSource);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->pin.id == "c3");
  BOOST_TEST(found->pin.ref == "refs/heads/main");
  BOOST_TEST((found->fetched_at == time));
  Source other = kSource;
  other.host = "example.org";
  BOOST_TEST(!listings.find_pin(other).has_value());
}

BOOST_AUTO_TEST_CASE(the_last_answer_counts) {
  listings.keep("p", "", two_versions());
  listings.keep("p", "", Listing{.versions = {}, .skipped = {}, .fetched_at = time});
  BOOST_TEST(listings.find("p", "")->versions.empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_as_if_absent) {
  listings.keep("p", "", two_versions());
  const std::string whole = read_text(only_file());
  for (const std::string& text :
       {std::string(), std::string("[]"), whole.substr(0, whole.size() / 2),
        std::string(R"({"package":"q","tagPrefix":"","fetchedAt":1,"complete":true,"versions":[]})"),
        std::string(R"({"package":"p","tagPrefix":"","fetchedAt":"1","complete":true,"versions":[]})"),
        std::string(R"({"package":"p","tagPrefix":"","fetchedAt":-1,"complete":true,"versions":[]})"),
        std::string(R"({"package":"p","tagPrefix":"","fetchedAt":253402300800,"complete":true,"versions":[]})"),
        std::string(R"({"package":"p","tagPrefix":"","fetchedAt":1,"complete":true,"versions":[{"version":"x"}]})"),
        std::string(R"({"package":"p","tagPrefix":"","fetchedAt":1,"complete":true,"versions":[1]})"),
        std::string(R"({"package":"p","tagPrefix":"","fetchedAt":1,"complete":1,"versions":[]})")}) {
    BOOST_TEST_CONTEXT(text) {
      write_text(only_file(), text);
      BOOST_TEST(!listings.find("p", "").has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
