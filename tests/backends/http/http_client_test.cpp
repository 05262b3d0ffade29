#include "backends/http/http_client.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/http/http_fixture.h"

namespace modlock::test {
namespace {

HttpResponse response(int status, std::vector<HttpHeader> headers = {}, std::string body = {}) {
  return {.status = status,
          .headers = std::move(headers),
          .body = std::move(body),
          .url = SecretText("https://u:s3cret@h.test/a?token=s3cret")};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_client)

BOOST_AUTO_TEST_CASE(header_lookup) {
  const HttpResponse given = response(200, {{"X-Terraform-Get", "one"}, {"x-terraform-get", "two"}, {"Empty", ""}});
  BOOST_TEST(given.header("x-TERRAFORM-get").value_or("none") == "one");
  BOOST_TEST(given.header("empty").value_or("none") == "");
  BOOST_TEST(given.header("X-Terraform").value_or("none") == "none");
}

BOOST_AUTO_TEST_CASE(statuses) {
  struct Row {
    int status;
    const char* expected;
  };
  const Row rows[] = {
      {200, "200 "},
      {204, "204 "},
      {299, "299 "},
      {304, "BAD_RESPONSE: could not read it: https://h.test/a: unexpected status (status 304)"},
      {302, "BAD_RESPONSE: could not read it: https://h.test/a: unexpected status (status 302)"},
      {400, "BAD_RESPONSE: could not read it: https://h.test/a: unexpected status (status 400)"},
      {401,
       "AUTH_REQUIRED: could not read it: https://h.test/a: authentication is required, or the credentials were "
       "rejected (status 401)"},
      {403, "FORBIDDEN: could not read it: https://h.test/a: access denied (status 403)"},
      {404, "NOT_FOUND: could not read it: https://h.test/a: not found (status 404)"},
      {408,
       "TIMEOUT: could not read it: https://h.test/a: the server timed out while it waited for the request (status "
       "408) (try "
       "again later)"},
      {410, "NOT_FOUND: could not read it: https://h.test/a: no longer available (status 410)"},
      {418, "BAD_RESPONSE: could not read it: https://h.test/a: unexpected status (status 418)"},
      {429,
       "RATE_LIMITED: could not read it: https://h.test/a: rate limit exceeded (status 429) (wait "
       "before the next attempt)"},
      {500,
       "UNREACHABLE: could not read it: https://h.test/a: server error (status 500) (try "
       "again later)"},
      {503,
       "UNREACHABLE: could not read it: https://h.test/a: server error (status 503) (try "
       "again later)"},
      {504,
       "TIMEOUT: could not read it: https://h.test/a: a server behind this server timed out (status 504) "
       "(try again later)"},
      {600, "BAD_RESPONSE: could not read it: https://h.test/a: unexpected status (status 600)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.status) {
      BOOST_TEST(outcome(expect_success(response(row.status), get("https://h.test/"))) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(not_modified_is_for_those_who_asked) {
  HttpRequest request = get("https://h.test/");
  request.validators = {{"If-None-Match", "x"}};
  for (const bool is_sent : {true, false}) {
    request.validated_address = validator_scope(is_sent ? "https://h.test/a" : "https://h.test/b");
    BOOST_TEST(
        outcome(expect_success(response(304), request)) ==
        (is_sent ? "304 " : "BAD_RESPONSE: could not read it: https://h.test/a: unexpected status (status 304)"));
  }
}

BOOST_AUTO_TEST_CASE(an_error_passes) {
  BOOST_TEST(outcome(expect_success(fail(Code::timeout, "late"), get("https://h.test/"))) == "TIMEOUT: late");
}

BOOST_AUTO_TEST_CASE(retry_after) {
  struct Row {
    int status;
    const char* value;
    long expected;  // ms; -1: none
  };
  const Row rows[] = {{429, "120", 120'000}, {503, "7", 7'000}, {429, "soon", -1}, {404, "7", -1}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.status << " " << row.value) {
      const auto result = expect_success(response(row.status, {{"Retry-After", row.value}}), get("https://h.test/"));
      BOOST_TEST_REQUIRE(!result);
      BOOST_TEST(result.error().retry_after.value_or(std::chrono::milliseconds(-1)).count() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_server_says) {
  struct Row {
    const char* name;
    std::string body;
    const char* expected;
  };
  const Row rows[] = {
      {"a registry", R"({"errors":["no such module","more"]})", "the server reports: no such module"},
      {"OCI", R"({"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known"}]})",
       "the server reports: repository name not known"},
      {"message", R"({"message":"Not Found","documentation_url":"x"})", "the server reports: Not Found"},
      {"error", R"({"error":"invalid_token"})", "the server reports: invalid_token"},
      {"text", "\r\n  go away  \r\nsecond line", "the server reports: go away  "},
      {"controls", "a\x1b[31mb", "the server reports: a\\x1b[31mb"},
      {"no UTF-8", "a\xff", "the server reports: a\xef\xbf\xbd"},
      {"a page", "<html>no</html>", ""},
      {"nothing", "", ""},
      {"JSON without reason", R"({"a":1})", ""},
      {"JSON of another shape", R"({"errors":{"a":1}})", ""},
      {"errors that are numbers", R"({"errors":[1]})", ""},
      {"a number", "12", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result = expect_success(response(404, {}, row.body), get("https://h.test/"));
      BOOST_TEST_REQUIRE(!result);
      BOOST_TEST((result.error().notes.empty() ? "" : result.error().notes[0]) == row.expected);
    }
  }
  const auto long_text = expect_success(response(404, {}, std::string(4000, 'x')), get("https://h.test/"));
  BOOST_TEST(long_text.error().notes[0] == "the server reports: " + std::string(300, 'x') + "…");
}

BOOST_AUTO_TEST_CASE(a_server_that_gives_back_what_is_secret_is_not_quoted) {
  HttpRequest with_header = get("https://example.com/x");
  with_header.secret_headers.emplace_back("Authorization", SecretText("Bearer canary"));
  HttpRequest with_user = with_header;
  with_user.secret_headers.clear();
  with_user.url = SecretText("https://me:canary@example.com/x");
  HttpRequest with_query = with_user;
  with_query.url = SecretText("https://example.com/x?sig=canary");
  HttpRequest with_body = get("https://example.com/x");
  with_body.body = "refresh_token=canary";
  for (const HttpRequest& asked : {with_header, with_user, with_query, with_body}) {
    const auto refused =
        expect_success(HttpResponse{.status = 500, .headers = {}, .body = "you said canary", .url = asked.url}, asked);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST(refused.error().notes.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
