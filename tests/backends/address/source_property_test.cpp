#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "backends/address/source.h"
#include "backends/address/version.h"

using namespace modlock;

namespace {

constexpr unsigned kSeed = 21;

template <std::size_t size>
std::string join(std::mt19937& random, const char* const (&pieces)[size], std::size_t most) {
  std::string text;
  for (std::size_t i = 1 + random() % most; i > 0; --i) {
    text += pieces[random() % size];
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(source_property_test)

BOOST_AUTO_TEST_CASE(source_addresses_survive_printing) {
  std::mt19937 random(kSeed);
  const char* const starts[] = {
      "./",          "../",    "",         "git::https://", "git::ssh://git@", "git@",
      "github.com/", "oci://", "https://", "s3::https://",  "example.com/",    "bücher.example:8443/",
      "file:///",    "/"};
  const char* const pieces[] = {"a", "B",   "/", "//",    ".", "..",   "-",    "_",    "example.com", ":",
                                "é", "%2F", "%", "?ref=", "&", "tag=", ".git", ".zip", "1.2",         "@"};
  int accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text = starts[random() % std::size(starts)];
    text += join(random, pieces, 9);
    const auto parsed = parse_source(text);
    if (!parsed) {
      continue;
    }
    ++accepted;
    BOOST_TEST_CONTEXT("seed " << kSeed << ", \"" << text << "\"") {
      const auto again = parse_source(parsed->normalised.reveal());
      BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
      BOOST_TEST(again->normalised.reveal() == parsed->normalised.reveal());
      BOOST_TEST((again->source == parsed->source));
      const auto identity = parse_identity(parsed->source.identity());
      BOOST_REQUIRE_MESSAGE(identity.has_value(), (identity ? "" : identity.error().message));
      BOOST_TEST(identity->identity() == parsed->source.identity());
    }
  }
  BOOST_TEST(accepted > 1000);
}

BOOST_AUTO_TEST_CASE(versions_survive_printing) {
  std::mt19937 random(kSeed);
  const char* const pieces[] = {"0", "1", "07", "12", ".", ".", "-", "+", "rc", "beta", "~", "v"};
  int accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    const std::string text = join(random, pieces, 9);
    const auto parsed = Version::parse(text);
    if (!parsed) {
      continue;
    }
    ++accepted;
    BOOST_TEST_CONTEXT("seed " << kSeed << ", \"" << text << "\"") {
      const auto again = Version::parse(parsed->to_string());
      BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
      BOOST_TEST(again->to_string() == parsed->to_string());
      BOOST_TEST(again->prerelease() == parsed->prerelease());
      BOOST_TEST(again->metadata() == parsed->metadata());
      BOOST_TEST((again->numbers() == parsed->numbers()));
    }
  }
  BOOST_TEST(accepted > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
