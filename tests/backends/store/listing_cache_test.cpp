#include "backends/store/listing_cache.h"

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/temporary_directory.h"

using namespace modlock::test;
using namespace modlock;

namespace {

const Source kListedSource{
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

constexpr const char* kUrl = "https://example.com/v2/a/tags/list?n=2&token=canary";

struct CacheFixture {
  TemporaryDirectory directory;
  Store store = *Store::open(directory / "cache");
  FileResponseCache cache{store};
  FakeHttpClient http;
  Stats stats;
  Context context{.stats = &stats};

  KnownSecrets secrets;
  std::unique_ptr<HttpClient> client = make_caching_http_client(http, cache, secrets);

  Result<HttpResponse> get() {
    return client->send(HttpRequest{.url = SecretText(kUrl), .purpose = "list", .keep = true}, context);
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

// It is written in pieces of 64 KiB.
BOOST_AUTO_TEST_CASE(a_long_listing_is_found_whole) {
  for (const std::size_t count : {700U, 1400U, 5000U}) {
    Listing listing{.versions = {}, .skipped = {}, .fetched_at = time};
    for (std::size_t i = 0; i < count; ++i) {
      const std::string tag = fmt::format("v1.0.{}", i);
      listing.versions.push_back({Version::parse(tag).value(), tag, std::string(40, 'c'), "refs/tags/" + tag});
    }
    listings.keep("p", "", listing);
    const auto found = listings.find("p", "");
    BOOST_REQUIRE(found.has_value());
    BOOST_REQUIRE(found->versions.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      BOOST_REQUIRE(found->versions[i].ref == listing.versions[i].ref);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pin_is_found_by_its_source) {
  listings.keep_pin(kListedSource, {.id = "c3", .ref = "refs/heads/main"}, time);
  const auto found = listings.find_pin(kListedSource);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->pin.id == "c3");
  BOOST_TEST(found->pin.ref == "refs/heads/main");
  BOOST_TEST((found->fetched_at == time));
  Source other = kListedSource;
  other.host = "example.org";
  BOOST_TEST(!listings.find_pin(other).has_value());
}

// What an external backend says of a source is no answer for a run without it, and the other way round.
BOOST_AUTO_TEST_CASE(answers_to_runs_with_claims_are_kept_apart) {
  Store claiming = store;
  claiming.set_claims("x");
  ListingCache apart(claiming);
  for (const auto& [by, other] : {std::pair(&apart, &listings), std::pair(&listings, &apart)}) {
    by->keep("p", "", two_versions());
    by->keep_pin(kListedSource, {.id = "c3"}, time);
    BOOST_TEST(!other->find("p", "").has_value());
    BOOST_TEST(!other->find_pin(kListedSource).has_value());
    BOOST_TEST(by->find("p", "").has_value());
    BOOST_TEST(by->find_pin(kListedSource).has_value());
    std::filesystem::remove_all(store.response_directory());
  }
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

BOOST_FIXTURE_TEST_SUITE(kept_responses, CacheFixture)

BOOST_AUTO_TEST_CASE(second_get_sends_the_validators_and_takes_the_kept_body) {
  http.on("GET", kUrl,
          {FakeAnswer{.status = 200,
                      .headers = {{"ETag", "\"v1\""},
                                  {"last-modified", "Sat, 21 Nov 2026 10:00:00 GMT"},
                                  {"Link", "</next>; rel=\"next\""},
                                  {"Set-Cookie", "secret"}},
                      .body = "{\"tags\": [\"\xc3\xa9\"]}"},
           FakeAnswer{.status = 304, .headers = {}, .body = {}}});
  BOOST_REQUIRE(get().has_value());
  const auto again = get();
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(again->status == 200);
  BOOST_TEST(again->body == "{\"tags\": [\"\xc3\xa9\"]}");
  BOOST_TEST(again->header("link").value() == "</next>; rel=\"next\"");
  BOOST_TEST(!again->header("Set-Cookie").has_value());
  BOOST_TEST(http.sent().at(0).header("If-None-Match") == "");
  BOOST_TEST(http.sent().at(1).header("If-None-Match") == "\"v1\"");
  BOOST_TEST(http.sent().at(1).header("If-Modified-Since") == "Sat, 21 Nov 2026 10:00:00 GMT");
  BOOST_TEST(stats.cache_hits == 1U);
}

BOOST_AUTO_TEST_CASE(body_that_is_no_text_comes_back_as_it_was) {
  const std::string signature("\xc2\xff\x00\x00\x01\x80", 6);
  http.on("GET", kUrl,
          {FakeAnswer{.status = 200, .headers = {{"ETag", "\"v1\""}}, .body = signature},
           FakeAnswer{.status = 304, .headers = {}, .body = {}}});
  BOOST_REQUIRE(get().has_value());
  const auto again = get();
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST((again->body == signature));
}

BOOST_AUTO_TEST_CASE(changed_answer_replaces_the_kept_one) {
  http.on("GET", kUrl,
          {FakeAnswer{.headers = {{"ETag", "\"1\""}}, .body = "one"},
           FakeAnswer{.headers = {{"ETag", "\"2\""}}, .body = "two"},
           FakeAnswer{.status = 304, .headers = {}, .body = {}}});
  (void)get();
  BOOST_TEST(get()->body == "two");
  BOOST_TEST(get()->body == "two");
  BOOST_TEST(http.sent().at(2).header("If-None-Match") == "\"2\"");
}

BOOST_AUTO_TEST_CASE(offline_takes_what_is_kept_and_nothing_else) {
  context.offline = true;
  const auto missing = get();
  BOOST_REQUIRE(!missing.has_value());
  BOOST_TEST(std::string(to_string(missing.error().code)) == "OFFLINE_MISS");
  context.offline = false;
  http.on("GET", kUrl, {FakeAnswer{.headers = {{"ETag", "\"1\""}}, .body = "one"}});
  const auto online = get();
  context.offline = true;
  const auto offline = get();
  BOOST_REQUIRE(offline.has_value());
  BOOST_TEST(offline->body == "one");
  BOOST_TEST(!online->kept_since.has_value());
  BOOST_TEST(offline->kept_since.has_value());
  BOOST_TEST(http.sent().size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_is_not_kept) {
  struct Row {
    const char* name;
    FakeAnswer answer;
  };
  const Row rows[] = {
      {"without a validator", {.status = 200, .headers = {}, .body = "x"}},
      {"an error", {.status = 404, .headers = {{"ETag", "\"1\""}}, .body = "x"}},
      {"a body over 4 MiB", {.status = 200, .headers = {{"ETag", "\"1\""}}, .body = std::string((4U << 20U) + 1, 'x')}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      http.on("GET", kUrl, {row.answer});
      (void)get();
      BOOST_TEST(!std::filesystem::exists(store.response_directory()));
    }
  }
}

BOOST_AUTO_TEST_CASE(answer_that_gives_back_a_secret_is_not_kept) {
  secrets.add("canary-token");
  for (const FakeAnswer& answer : {
           FakeAnswer{.headers = {{"ETag", "\"1\""}}, .body = "1.0.0-canary-token"},
           FakeAnswer{.headers = {{"ETag", "\"canary-token\""}}, .body = "x"},
           FakeAnswer{.headers = {{"ETag", "\"1\""}, {"Link", "</canary-token>"}}, .body = "x"},
       }) {
    http.on("GET", kUrl, {answer});
    (void)get();
    BOOST_TEST(!std::filesystem::exists(store.response_directory()));
  }
}

BOOST_AUTO_TEST_CASE(damaged_file_is_as_if_absent_and_no_secret_is_in_it) {
  http.on("GET", kUrl, {FakeAnswer{.headers = {{"ETag", "\"1\""}}, .body = "one"}});
  (void)get();
  const std::filesystem::path file = only_file();
  const std::string text = *read_file(file);
  BOOST_TEST(text.find("canary") == std::string::npos);
  BOOST_TEST(text.find("\"url\":\"https://example.com/v2/a/tags/list\"") != std::string::npos, text);
  for (const std::string& damaged : {std::string(), std::string("{}"), text.substr(0, text.size() / 2),
                                     std::string("[1]"), std::string("{\"fetchedAt\":1,\"body\":7}")}) {
    BOOST_TEST_CONTEXT(damaged) {
      write_text(file, damaged);
      BOOST_TEST(!cache.find(SecretText(kUrl)).has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
