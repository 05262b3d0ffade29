#include "backends/store/provider_hashes.h"

#include <atomic>
#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "tests/support/temporary_directory.h"

using namespace modlock::test;
using namespace modlock;

namespace modlock {
namespace {

using test::TemporaryDirectory;

const std::string kZh = "zh:" + std::string(64, 'a');

struct Fixture {
  TemporaryDirectory directory;
  Store store = Store::open(directory / "store").value();
  ProviderHashes hashes{store};
  std::filesystem::path file = store.hash_directory() / std::string(64, 'a');
};

BOOST_AUTO_TEST_SUITE(provider_hashes_test)

BOOST_AUTO_TEST_CASE(what_was_noted_is_found) {
  const Fixture fixture;
  BOOST_TEST(!fixture.hashes.find(kZh));
  fixture.hashes.note(kZh, {.size = 5'000'000'000,
                            .h1 = "h1:x=",
                            .archive_h1 = "h1:y=",
                            .is_plain = true,
                            .programs = {"terraform-provider-a", "terraform-provider-b"}});
  const auto found = fixture.hashes.find(kZh);
  BOOST_REQUIRE(found);
  BOOST_TEST(found->size == 5'000'000'000U);
  BOOST_TEST(found->h1 == "h1:x=");
  BOOST_TEST(found->archive_h1 == "h1:y=");
  BOOST_TEST(found->is_plain);
  const std::vector<std::string> programs = {"terraform-provider-a", "terraform-provider-b"};
  BOOST_TEST(found->programs == programs, boost::test_tools::per_element());
  BOOST_TEST(!fixture.hashes.find("zh:" + std::string(64, 'b')));
}

BOOST_AUTO_TEST_CASE(texts_that_are_no_hash_of_an_archive) {
  const Fixture fixture;
  for (const std::string& text : {std::string(), std::string("zh:"), std::string("zh:../../x"), std::string(64, 'a'),
                                  "zh:" + std::string(64, 'A'), "h1:" + std::string(64, 'a')}) {
    BOOST_TEST_CONTEXT(text) {
      fixture.hashes.note(text, {.size = 1});
      BOOST_TEST(!fixture.hashes.find(text));
      const auto held = fixture.hashes.hold(text, {});
      BOOST_REQUIRE(!held);
      BOOST_TEST((held.error().code == Code::internal));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_as_if_absent) {
  const Fixture fixture;
  fixture.hashes.note(kZh, {.size = 1, .h1 = "h1:x=", .archive_h1 = "h1:x=", .programs = {"p"}});
  const std::string whole = read_file(fixture.file).value();
  const auto with = [&](const std::string& what, const std::string& other) {
    std::string text = whole;
    return text.replace(text.find(what), what.size(), other);
  };
  BOOST_REQUIRE(fixture.hashes.find(kZh));
  for (const std::string& text :
       {std::string(), std::string("[]"), whole.substr(0, whole.size() / 2), with("\"size\":1", "\"size\":-1"),
        with("\"h1:x=\"", "7"), with("[\"p\"]", "[7]"), with("zh:a", "zh:b"), with("\"plain\":false", "\"plain\":0")}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_REQUIRE(write_file_atomically(fixture.file, text));
      BOOST_TEST(!fixture.hashes.find(kZh));
    }
  }
}

BOOST_AUTO_TEST_CASE(one_at_a_time) {
  const Fixture fixture;
  std::atomic<int> inside = 0;
  std::atomic<int> alone = 0;
  std::atomic<int> reads = 0;
  parallel_for(8, 8, [&](std::size_t) {
    const auto held = fixture.hashes.hold(kZh, {});
    alone += held && ++inside == 1 ? 1 : 0;
    if (!fixture.hashes.find(kZh)) {
      ++reads;
      fixture.hashes.note(kZh, {.size = 1});
    }
    --inside;
  });
  BOOST_TEST(alone == 8);
  BOOST_TEST(reads == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock

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
