#include "backends/registry/registry_backend.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/registry/registry_fixture.h"

namespace modlock {
namespace {

using namespace test;

const std::string kVersionsUrl = "https://registry.example.com/v1/a/b/c/versions";
const std::string kOne = R"({"modules":[{"versions":[{"version":"1.0.0"},{"version":"v1.1"},{"version":"x"}]}]})";

BOOST_AUTO_TEST_SUITE(registry_backend_test)

BOOST_AUTO_TEST_CASE(it_lists_versions) {
  RegistryFixture fixture;
  fixture.http.on(kVersionsUrl, kOne);
  const auto listing = fixture.registry().list_versions(parsed("registry.example.com/a/b/c//sub"), "", fixture.context);
  BOOST_REQUIRE(listing);
  BOOST_REQUIRE(listing->versions.size() == 2U);
  BOOST_TEST(listing->versions[0].version.to_string() == "1.1.0");
  BOOST_TEST(listing->versions[0].tag == "v1.1");
  BOOST_TEST(listing->versions[0].ref == "1.1.0");
  BOOST_TEST(listing->versions[0].id == "");
  BOOST_TEST(listing->versions[0].ambiguous_with == "");
  BOOST_TEST(listing->skipped.size() == 1U);
  BOOST_TEST(listing->complete);
}

BOOST_AUTO_TEST_CASE(requests_say_who_asks) {
  RegistryFixture fixture;
  fixture.credentials.add_token(CredentialUse::registry, "registry.example.com", "s3cret");
  fixture.http.on("https://registry.example.com/.well-known/terraform.json",
                  R"({"modules.v1":"https://api.elsewhere.example/m/"})");
  fixture.http.on("https://api.elsewhere.example/m/a/b/c/versions", kOne);
  BOOST_REQUIRE(fixture.registry().list_versions(parsed("registry.example.com/a/b/c"), "", fixture.context));
  const auto sent = fixture.http.sent();
  BOOST_REQUIRE(sent.size() == 2U);
  BOOST_TEST(sent[0].header("X-Terraform-Version") == "");
  BOOST_TEST(sent[1].header("X-Terraform-Version") == "1.12.6");
  BOOST_TEST(sent[1].header("Authorization") == "Bearer s3cret");  // the token of the name, wherever its API lives
}

BOOST_AUTO_TEST_CASE(a_listing_that_fails_says_what_was_asked) {
  struct Row {
    const char* name;
    FakeAnswer answer;
    const char* expected;
    std::size_t requests;
  };
  const std::string prefix = "could not list the versions of \"registry.example.com/modules/a/b/c\": " + kVersionsUrl;
  const Row rows[] = {
      {"not found", {.status = 404}, "NOT_FOUND: *: not found (status 404)", 1},
      {"unauthorised",
       {.status = 401},
       "AUTH_REQUIRED: *: authentication is required, or the credentials were rejected (status 401)",
       1},
      {"forbidden", {.status = 403}, "FORBIDDEN: *: access denied (status 403)", 1},
      {"rate limited", {.status = 429}, "RATE_LIMITED: *: rate limit exceeded (status 429)", 2},
      {"broken", {.status = 500}, "UNREACHABLE: *: server error (status 500)", 2},
      {"no content", {.status = 204}, "BAD_RESPONSE: *: expected status 200, got 204", 1},
      {"another shape", {.body = "{}"}, "BAD_RESPONSE: *: \"modules\" is null, expected a list", 1},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RegistryFixture fixture;
      fixture.http.on("GET", kVersionsUrl, {row.answer});
      const auto listing = fixture.registry().list_versions(parsed("registry.example.com/a/b/c"), "", fixture.context);
      BOOST_REQUIRE(!listing);
      std::string expected = row.expected;
      expected.replace(expected.find('*'), 1, prefix);
      BOOST_TEST(words(listing.error()) == expected);
      BOOST_TEST(fixture.http.sent().size() == row.requests + 1);
      BOOST_TEST(!(listing.error().hint.empty() && row.answer.status >= 400));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_policy_says_how_often_it_is_asked) {
  RegistryFixture fixture;
  fixture.http.on(
      "GET", kVersionsUrl,
      {FakeAnswer{.status = 500}, FakeAnswer{.status = 502}, FakeAnswer{.status = 503}, FakeAnswer{.body = kOne}});
  const auto patient =
      make_registry_backend({.http = registry::RegistryHttp(fixture.http, fixture.credentials, {.retries = 3}),
                             .client = fixture.client,
                             .others = fixture.backends});
  BOOST_TEST(patient->list_versions(parsed("registry.example.com/a/b/c"), "", fixture.context).has_value());
  BOOST_TEST(fixture.http.waits().size() == 3U);
}

BOOST_AUTO_TEST_CASE(a_refusal_says_where_credentials_were_looked_for) {
  RegistryFixture fixture;
  fixture.http.on("GET", kVersionsUrl, {FakeAnswer{.status = 401}});
  const auto listing = fixture.registry().list_versions(parsed("registry.example.com/a/b/c"), "", fixture.context);
  BOOST_REQUIRE(!listing);
  BOOST_REQUIRE(listing.error().notes.size() == 1U);
  BOOST_TEST(listing.error().notes[0] ==
             "looked for credentials for registry.example.com in test: no entry for registry.example.com");
  BOOST_TEST(listing.error().hint.text().starts_with("set TF_TOKEN_registry_example_com to a token"));
}

BOOST_AUTO_TEST_CASE(without_a_token_to_be_had_it_asks_anonymously) {
  struct Row {
    const char* name;
    Code code;
    bool asks;
  };
  const Row rows[] = {
      {"a helper that is missing", Code::tool_missing, true},
      {"a helper that fails", Code::unreachable, true},
      {"a configuration that cannot be read", Code::config_parse, false},
      {"the end of the run", Code::request_cancelled, false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RegistryFixture fixture;
      fixture.http.on(kVersionsUrl, kOne);
      fixture.credentials.fail_with({.code = row.code, .message = "no"});
      const auto listing = fixture.registry().list_versions(parsed("registry.example.com/a/b/c"), "", fixture.context);
      BOOST_TEST(listing.has_value() == row.asks);
      BOOST_TEST((listing || listing.error().code == row.code));
      BOOST_TEST(fixture.http.sent().empty() == !row.asks);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_needs_no_request) {
  RegistryFixture fixture;
  const SourceAddress source = parsed("a/b/c");
  BackendCore& registry = fixture.registry();
  BOOST_TEST(registry.serves(source.source));
  BOOST_TEST(!registry.serves(parsed("git::https://example.com/m.git").source));

  const auto prefixed = registry.list_versions(source, "nested/", fixture.context);
  BOOST_REQUIRE(!prefixed);
  BOOST_TEST(words(prefixed.error()) ==
             "INVALID_PARAMS: a tag prefix (\"nested/\") was given for \"registry.opentofu.org/modules/a/b/c\", but a "
             "registry has versions, not tags");

  const auto pin = registry.pin(source, fixture.context);
  BOOST_REQUIRE(!pin);
  BOOST_TEST(
      words(pin.error()) ==
      "NOT_FOUND: \"registry.opentofu.org/modules/a/b/c\" has no references to pin: a registry has only versions");

  fixture.context.offline = true;
  const std::string miss =
      "OFFLINE_MISS: cannot query the registry for \"registry.opentofu.org/modules/a/b/c\" in offline mode";
  const auto offline = registry.list_versions(source, "", fixture.context);
  BOOST_REQUIRE(!offline);
  BOOST_TEST(words(offline.error()) == miss);
  const FetchRequest fetch_request{.id = {}, .ref = "1.0.0"};
  const auto trees = registry.fetch(source, {&fetch_request, 1}, fixture.directory.path(), fixture.context);
  BOOST_REQUIRE(trees.size() == 1U);
  BOOST_REQUIRE(!trees[0]);
  BOOST_TEST(words(trees[0].error()) == miss);
  BOOST_TEST(fixture.http.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_backend_may_refuse_what_a_server_names) {
  RegistryFixture fixture;
  fixture.locate("a/b/c", "1.0.0", "git::https://example.com/c.git?ref=v1.0.0");
  fixture.git->is_local = true;
  const auto tree = fixture.fetch("1.0.0");
  BOOST_REQUIRE(!tree.has_value());
  BOOST_TEST(words(tree.error()) == "SOURCE_DENIED: git::https://example.com/c.git?ref=v1.0.0 is on this machine");
  BOOST_TEST(
      tree.error().notes.at(0) ==
      "version 1.0.0 of \"registry.example.com/modules/a/b/c\" is at \"git::https://example.com/c.git?ref=v1.0.0\"");
  BOOST_TEST(fixture.git->calls().empty());
}

BOOST_AUTO_TEST_CASE(redirects_of_the_api_are_judged_before_they_are_followed) {
  const std::string discovery = "https://registry.example.com/.well-known/terraform.json";
  const std::string versions = "https://registry.example.com/v1/a/b/c/versions";
  for (const std::string& url : {discovery, versions}) {
    BOOST_TEST_CONTEXT(url) {
      RegistryFixture fixture;
      fixture.http.redirect(url, "https://denied.example.com/x?sig=CANARY");
      fixture.context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
        return fail(Code::source_denied, "denied: " + source.identity());
      };
      const auto listing = fixture.registry().list_versions(parsed("registry.example.com/a/b/c"), "", fixture.context);
      BOOST_REQUIRE(!listing);
      BOOST_TEST(words(listing.error()).starts_with("SOURCE_DENIED: "));
      BOOST_TEST(words(listing.error())
                     .ends_with("it redirects to https://denied.example.com/x: denied: https://denied.example.com/x"));
      BOOST_TEST(fixture.http.sent_lines().back() == "GET " + url);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
