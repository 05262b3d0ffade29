#include "backends/http/wrapping_clients.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/fake_http_client.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(remembering_client)

BOOST_AUTO_TEST_CASE(what_a_request_sends_is_known) {
  struct Row {
    const char* name;
    HttpRequest request;
    std::string text;
    std::string expected;
  };
  const auto with_header = [](const char* name, const char* value) {
    HttpRequest request;
    request.url = SecretText("https://h.test/x");
    request.secret_headers.emplace_back(name, SecretText(value));
    return request;
  };
  const auto with_url = [](const char* url) {
    HttpRequest request;
    request.url = SecretText(url);
    return request;
  };
  HttpRequest refresh = with_url("https://h.test/x");
  refresh.method = HttpRequest::Method::post;
  refresh.body = "grant_type=refresh_token&refresh_token=ref%2Fresh&service=service.test";
  for (const Row& row : {
           Row{"a bearer token", with_header("Authorization", "Bearer t0ken"), "Bearer t0ken", "Bearer …"},
           // base64 of "reader:passw0rd"
           Row{"a pair", with_header("Authorization", "Basic cmVhZGVyOnBhc3N3MHJk"),
               "cmVhZGVyOnBhc3N3MHJk passw0rd reader", "… … reader"},
           // base64 of "t0ken:"
           Row{"a name that is the token", with_header("Authorization", "Basic dDBrZW46"), "t0ken", "…"},
           Row{"no base64", with_header("Authorization", "Basic !!!!"), "!!!!", "…"},
           Row{"a header of its own", with_header("PRIVATE-TOKEN", "t0ken"), "t0ken", "…"},
           Row{"nothing behind a scheme", with_header("Authorization", "Bearer "), "Bearer", "Bearer"},
           Row{"user-info", with_url("https://reader:passw%2Ford@h.test/"), "reader passw/ord passw%2Ford",
               "reader … …"},
           Row{"a token as user", with_url("https://t0ken@h.test/"), "t0ken", "…"},
           Row{"a refresh token", refresh, "ref/resh service.test", "… service.test"},
           Row{"nothing secret", with_url("https://h.test/path?x=query"), "h.test path query", "h.test path query"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeHttpClient http;
      KnownSecrets secrets;
      (void)make_secret_recording_client(http, secrets)->send(row.request, Context{});
      BOOST_TEST(http.sent().size() == 1U);
      BOOST_TEST(secrets.all().scrub(row.text) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(logged_lines_are_free_of_secrets) {
  struct OneLine final : Log {
    void write(LogLevel /*level*/, std::string_view line) override { text = line.substr(0, line.rfind(" in ")); }
    std::string text;
  } log;
  FakeHttpClient http;
  http.on("https://h.test/t0ken/x", "{}");
  KnownSecrets secrets;
  HttpRequest request;
  request.url = SecretText("https://h.test/t0ken/x");
  request.secret_headers.emplace_back("Authorization", SecretText("Bearer t0ken"));
  (void)make_secret_recording_client(http, secrets)->send(request, Context{.log = &log});
  BOOST_TEST(log.text == "GET https://h.test/…/x: 200");
}

BOOST_AUTO_TEST_SUITE_END()
