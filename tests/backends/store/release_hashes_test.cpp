#include "backends/store/release_hashes.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(release_hashes)

BOOST_AUTO_TEST_CASE(what_was_noted_is_found) {
  const TemporaryDirectory directory;
  const auto store = Store::open(directory / "cache");
  const auto aws = *ProviderAddress::parse("aws", kOpenTofuRegistry);
  const auto null = *ProviderAddress::parse("null", kOpenTofuRegistry);
  const ProviderVersion one{.major = 1};
  const ProviderVersion two{.major = 2};
  const std::vector<Platform> linux = {{"linux", "amd64"}};
  const std::vector<Platform> both = {{"darwin", "arm64"}, {"linux", "amd64"}};
  const ReleaseHashes known(*store, "opentofu 1.12.6");
  BOOST_TEST(!known.find(aws, one, linux));
  known.note(aws, one, linux, {"h1:a", "zh:b"});
  BOOST_TEST((known.find(aws, one, linux) == std::vector<std::string>{"h1:a", "zh:b"}));
  BOOST_TEST(!known.find(null, one, linux));
  BOOST_TEST(!known.find(aws, two, linux));
  BOOST_TEST(!known.find(aws, one, both));
  BOOST_TEST(!ReleaseHashes(*store, "opentofu 1.11.0").find(aws, one, linux));
  known.note(aws, one, linux, {"h1:c"});
  BOOST_TEST((known.find(aws, one, linux) == std::vector<std::string>{"h1:c"}));
}

BOOST_AUTO_TEST_CASE(what_is_no_set_of_hashes_is_not_kept) {
  const TemporaryDirectory directory;
  const auto store = Store::open(directory / "cache");
  const auto aws = *ProviderAddress::parse("aws", kOpenTofuRegistry);
  const std::vector<Platform> linux = {{"linux", "amd64"}};
  const ReleaseHashes known(*store, "");
  known.note(aws, {}, linux, {});
  known.note(aws, {}, linux, {"h1:a\nzh:b"});
  BOOST_TEST(!known.find(aws, {}, linux));
  known.note(aws, {}, linux, {"h1:a"});
  BOOST_TEST(known.find(aws, {}, linux).has_value());
  const auto file = std::filesystem::directory_iterator(store->hash_directory())->path();
  for (const char* text : {"", "h1:a", "nothing\n", "h1:a\n\n"}) {
    BOOST_TEST_CONTEXT(text) {
      write_text(file, text);
      BOOST_TEST(!known.find(aws, {}, linux));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
