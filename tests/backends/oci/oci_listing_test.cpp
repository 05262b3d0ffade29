#include <boost/test/unit_test.hpp>

#include <string>

#include "backends/http/wrapping_clients.h"
#include "tests/backends/oci/oci_fixture.h"

namespace modlock::test {

BOOST_FIXTURE_TEST_SUITE(oci_listing, OciFixture)

BOOST_AUTO_TEST_CASE(tags_are_listed_as_versions_by_one_request) {
  serve_tags("a/b", R"({"name":"a/b","tags":["latest","v1.2.0","1.10.0","v1.3.0_build.5","v1.0.0-rc.1","v1","a/b"]})");
  BOOST_TEST(shown(backend->list_versions(source("oci://reg.example.com/a/b"), "", context)) ==
             "1.10.0 1.10.0 \n1.3.0+build.5 v1.3.0_build.5 \n1.2.0 v1.2.0 \n1.0.0-rc.1 v1.0.0-rc.1 \n"
             "- latest: not a semantic version\n- v1: not a semantic version\n- a/b: not a valid tag name\n");
  BOOST_TEST(asked() == "GET https://reg.example.com/v2/a/b/tags/list\n");
}

BOOST_AUTO_TEST_CASE(the_tag_is_what_a_version_is_fetched_by) {
  serve_tags("a", R"({"tags":["v1.3.0_build.5"]})");
  const auto listing = backend->list_versions(source("oci://reg.example.com/a"), "", context);
  BOOST_TEST_REQUIRE(outcome(listing) == "ok");
  BOOST_TEST(listing->versions.at(0).ref == "v1.3.0_build.5");
  BOOST_TEST(listing->versions.at(0).id.empty());
}

BOOST_AUTO_TEST_CASE(a_prefix_keeps_its_underscores) {
  serve_tags("a", R"({"tags":["my_net-v1.0.0","v2.0.0","my_net-v1.1.0_x"]})");
  BOOST_TEST(shown(backend->list_versions(source("oci://reg.example.com/a"), "my_net-", context)) ==
             "1.1.0+x my_net-v1.1.0_x \n1.0.0 my_net-v1.0.0 \n- v2.0.0: other prefix\n");
}

BOOST_AUTO_TEST_CASE(two_tags_of_one_version_are_told_apart_by_digest) {
  serve_tags("a", R"({"tags":["v1.2.0","1.2.0","v1.3.0","1.3.0","v1.4.0"]})");
  serve("a", "v1.2.0", {{"main.tf", "one"}});
  serve("a", "1.2.0", {{"main.tf", "two"}});
  const OciModule same = serve("a", "v1.3.0", {{"main.tf", "one"}});
  serve("a", "1.3.0", {{"main.tf", "one"}});
  const auto listing = backend->list_versions(source("oci://reg.example.com/a"), "", context);
  BOOST_TEST_REQUIRE(listing.has_value());
  BOOST_TEST_REQUIRE(listing->versions.size() == 3U);
  BOOST_TEST(listing->versions[0].id.empty());
  BOOST_TEST(listing->versions[1].id == same.manifest_digest);
  BOOST_TEST(listing->versions[1].ambiguous_with == "");
  BOOST_TEST(listing->versions[2].ambiguous_with == "1.2.0");
  BOOST_TEST(listing->skipped.at(0).reason == "the same version and digest as \"v1.3.0\"");
  BOOST_TEST(http.sent().size() == 5U);
}

BOOST_AUTO_TEST_CASE(pages_are_followed_and_keep_secrets_at_home) {
  credentials.add_basic(CredentialUse::oci, "reg.example.com", "me", "canary");
  const std::string first = kRegistry + "a/tags/list";
  const std::string second = first + "?last=v1.0.0";
  const std::string third = "https://cdn.example.com/tags";
  http.on("GET", first,
          {FakeAnswer{.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"r\""}}},
           FakeAnswer{.headers = {{"Link", "</v2/a/tags/list?last=v1.0.0>; rel=\"next\""}},
                      .body = R"({"tags":["v1.0.0"]})"}});
  http.on("GET", second,
          {FakeAnswer{.headers = {{"Link", "<" + third + ">; rel=\"next\""}}, .body = R"({"tags":["v1.1.0"]})"}});
  http.on("GET", third, {FakeAnswer{.body = R"({"tags":["v1.2.0"]})"}});
  BOOST_TEST(shown(backend->list_versions(source("oci://reg.example.com/a"), "", context)) ==
             "1.2.0 v1.2.0 \n1.1.0 v1.1.0 \n1.0.0 v1.0.0 \n");
  std::string authorized;
  for (const SentRequest& request : http.sent()) {
    authorized += request.header("Authorization").empty() ? "-" : "a";
  }
  BOOST_TEST(authorized == "-aa-");
}

BOOST_AUTO_TEST_CASE(a_page_elsewhere_gets_no_credentials_by_a_challenge_either) {
  credentials.add_basic(CredentialUse::oci, "reg.example.com", "me", "canary");
  http.on("GET", kRegistry + "a/tags/list",
          {FakeAnswer{.headers = {{"Link", "<https://evil.example.com/t>"}}, .body = "{}"}});
  http.on("GET", "https://evil.example.com/t",
          {FakeAnswer{.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"r\""}}}});
  BOOST_TEST(outcome(backend->list_versions(source("oci://reg.example.com/a"), "", context)) ==
             "AUTH_REQUIRED: could not list the tags of \"oci://reg.example.com/a\": https://evil.example.com/t: "
             "authentication is required, or the credentials were rejected (status 401)");
  BOOST_TEST(asked() == "GET https://reg.example.com/v2/a/tags/list\nGET https://evil.example.com/t\n");
}

BOOST_AUTO_TEST_CASE(an_unknown_repository_is_named) {
  http.on("GET", kRegistry + "a/tags/list",
          {FakeAnswer{.status = 404, .body = R"({"errors":[{"code":"NAME_UNKNOWN","message":"unknown"}]})"}});
  const auto listing = backend->list_versions(source("oci://reg.example.com/a"), "", context);
  BOOST_TEST(outcome(listing) == "NOT_FOUND: repository \"oci://reg.example.com/a\" not found");
}

BOOST_AUTO_TEST_CASE(offline_asks_nobody) {
  context.offline = true;
  const auto listing = backend->list_versions(source("oci://reg.example.com/a"), "", context);
  BOOST_TEST(to_string(listing.error().code) == "OFFLINE_MISS");
  BOOST_TEST(http.sent().empty());
  BOOST_TEST(credentials.asked().empty());
}

BOOST_AUTO_TEST_CASE(other_hosts_are_judged_before_they_are_asked) {
  const std::string tags = kRegistry + "a/tags/list";
  const std::string manifest = kRegistry + "a/manifests/v1";
  const std::string elsewhere = "https://denied.example.com/x";
  context.check_source = [](const Source& judged, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "no " + judged.identity());
  };
  http.redirect(tags, elsewhere + "?sig=CANARY");
  BOOST_TEST(outcome(backend->list_versions(source("oci://reg.example.com/a"), "", context)) ==
             "SOURCE_DENIED: could not list the tags of \"oci://reg.example.com/a\": " + tags + ": it redirects to " +
                 elsewhere + ": no " + elsewhere);
  http.on("GET", tags,
          {FakeAnswer{.headers = {{"Link", "<" + elsewhere + "?n=CANARY>; rel=next"}}, .body = R"({"tags":["v1"]})"}});
  BOOST_TEST(outcome(backend->list_versions(source("oci://reg.example.com/a"), "", context)) ==
             "SOURCE_DENIED: could not list the tags of \"oci://reg.example.com/a\": the registry names " + elsewhere +
                 ": no " + elsewhere);
  http.redirect(manifest, elsewhere);
  BOOST_TEST(outcome(fetch("oci://reg.example.com/a?tag=v1")).starts_with("SOURCE_DENIED: "));
  const OciModule module = serve("a", "v1", {{"main.tf", "one"}});
  http.redirect(kRegistry + "a/blobs/" + module.package_digest, elsewhere);
  BOOST_TEST(outcome(fetch("oci://reg.example.com/a?tag=v1")).starts_with("SOURCE_DENIED: "));
  BOOST_TEST(asked().find("denied.example.com") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(small_answers_have_a_minute) {
  serve_tags("a", R"({"tags":["v1.0.0"]})");
  serve("a", "v1", {{"main.tf", "one"}});
  BOOST_TEST(outcome(backend->list_versions(source("oci://reg.example.com/a"), "", context)) == "ok");
  BOOST_TEST(outcome(fetch("oci://reg.example.com/a?tag=v1")) == "ok");
  const auto sent = http.sent();
  BOOST_TEST_REQUIRE(sent.size() == 3U);
  BOOST_TEST((sent[0].timeouts.total == kSmallAnswerTime));  // tags
  BOOST_TEST((sent[1].timeouts.total == kSmallAnswerTime));  // manifest
  BOOST_TEST(!sent[2].timeouts.total.has_value());           // blob
}

BOOST_AUTO_TEST_CASE(a_listing_is_as_old_as_its_oldest_page) {
  struct Kept final : ResponseCache {
    std::optional<CachedResponse> find(const SecretText& url) const override {
      const bool is_first = url.reveal().ends_with("/list");
      return CachedResponse{.headers = {{"Link", is_first ? "<?n=2>; rel=next" : ""}},
                            .body = R"({"tags":["v1.0.0"]})",
                            .fetched_at = std::chrono::system_clock::from_time_t(is_first ? 1'000 : 2'000)};
    }
    void keep(const SecretText& /*url*/, const CachedResponse& /*response*/) const override {}
  };
  const Kept cache;
  const KnownSecrets secrets;
  const auto keeping = make_caching_http_client(http, cache, secrets);
  const auto offline = make_oci_backend(*keeping, credentials);
  context.offline = true;
  const auto listing = offline->list_versions(source("oci://reg.example.com/a"), "", context);
  BOOST_TEST_REQUIRE(outcome(listing) == "ok");
  BOOST_TEST(std::chrono::system_clock::to_time_t(listing->fetched_at) == 1'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
