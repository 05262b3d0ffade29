#include "backends/oci/authorizer.h"

#include <string>

#include <boost/test/unit_test.hpp>

#include "tests/support/fake_http_client.h"

namespace modlock::oci {

BOOST_AUTO_TEST_SUITE(token)

namespace {

const Repository kRepository{"oci://reg.example.com/a", "reg.example.com", "reg.example.com", "a"};
const TokenRequest kRequest{"https://auth.example.com/token", "reg", {"repository:a:pull"}};
constexpr const char* kUrl = "https://auth.example.com/token?scope=repository%3Aa%3Apull&service=reg";

std::string shown(const Result<Token>& token) {
  return token ? token->text.reveal() + " " + std::to_string(token->lifetime.count())
               : std::string(to_string(token.error().code)) + ": " + token.error().message;
}

}  // namespace

BOOST_AUTO_TEST_CASE(answers_of_a_token_service) {
  const std::string sent = "BAD_RESPONSE: the token service of \"oci://h/r\" sent ";
  struct Row {
    const char* name;
    const char* body;
    std::string expected;
  };
  for (const Row& row : {
           Row{"token", R"({"token":"t"})", "t 60"},
           Row{"access_token", R"({"access_token":"a"})", "a 60"},
           Row{"access_token wins", R"({"token":"t","access_token":"a","expires_in":300})", "a 300"},
           Row{"an empty one does not", R"({"token":"t","access_token":""})", "t 60"},
           Row{"a lifetime below a minute", R"({"token":"t","expires_in":1})", "t 60"},
           Row{"a negative lifetime", R"({"token":"t","expires_in":-9223372036854775808})", "t 60"},
           Row{"a lifetime beyond a day", R"({"token":"t","expires_in":9223372036854775807})", "t 86400"},
           Row{"a lifetime that is no number", R"({"token":"t","expires_in":"300"})", "t 60"},
           Row{"nothing", "{}", sent + "no token"},
           Row{"a number", R"({"token":1})", sent + "no token"},
           Row{"no JSON", "hello", sent + "a response that is not a JSON object"},
           Row{"a page", "<!DOCTYPE html>", sent + "an HTML page, not JSON"},
           Row{"a list", "[]", sent + "a response that is not a JSON object"},
           Row{"line end in the token", "{\"token\":\"a\\r\\nHost: x\"}",
               sent + "a token that is not valid in a header"},
           Row{"blank in the token", R"({"token":"a b"})", sent + "a token that is not valid in a header"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shown(parse_token(row.body, "oci://h/r")) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_sent_depends_on_the_credential) {
  struct Row {
    const char* name;
    FoundCredential credential;
    const char* line;
    const char* authorization;
    const char* body;
  };
  const SecretText user("me");
  const std::string get = std::string("GET ") + kUrl;
  const char* const post = "POST https://auth.example.com/token";
  for (const Row& row : {
           Row{"none", {}, get.c_str(), "", ""},
           Row{"user and password",
               {BasicCredential{user, SecretText("pass:word")}},
               get.c_str(),
               "Basic bWU6cGFzczp3b3Jk",
               ""},
           Row{"refresh token",
               {TokenCredential{SecretText(), SecretText("r&t")}},
               post,
               "",
               "client_id=tofu-modlock&grant_type=refresh_token&refresh_token=r%26t&scope=repository%3Aa%3Apull&"
               "service=reg"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      test::FakeHttpClient http;
      const test::FakeAnswer answer{.body = R"({"token":"t"})"};
      http.on("GET", kUrl, {answer});
      http.on("POST", kRequest.realm, {answer});
      BOOST_TEST(shown(request_token(http, kRequest, row.credential, kRepository, {})) == "t 60");
      BOOST_TEST_REQUIRE(http.sent().size() == 1U);
      BOOST_TEST(http.sent_lines()[0] == row.line);
      BOOST_TEST(http.sent()[0].header("Authorization") == row.authorization);
      BOOST_TEST(http.sent()[0].body == row.body);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_realm_keeps_its_own_arguments) {
  test::FakeHttpClient http;
  const std::string url = "https://auth.example.com/t?account=x&scope=a&scope=b&service=reg";
  http.on(url, R"({"token":"t"})");
  const TokenRequest request{"https://auth.example.com/t?account=x&service=old#f", "reg", {"a", "b"}};
  BOOST_TEST(shown(request_token(http, request, {}, kRepository, {})) == "t 60");
}

BOOST_AUTO_TEST_CASE(a_refresh_token_is_never_redirected) {
  test::FakeHttpClient http;
  http.on("POST", kRequest.realm,
          {test::FakeAnswer{.status = 307, .headers = {{"Location", "https://elsewhere.example.com/"}}}});
  const FoundCredential credential{TokenCredential{SecretText(), SecretText("refresh-canary")}};
  BOOST_TEST(shown(request_token(http, kRequest, credential, kRepository, {})) ==
             "BAD_RESPONSE: could not get a token for \"oci://reg.example.com/a\": https://auth.example.com/token: "
             "unexpected status (status 307)");
  BOOST_TEST(http.sent().size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::oci
