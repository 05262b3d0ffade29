#include "backends/http/retrying_http_client.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <thread>

#include "tests/backends/http/http_fixture.h"
#include "tests/support/fake_http_client.h"

namespace modlock::test {
namespace {

using Lines = std::vector<std::string>;

struct RetryFixture {
  FakeHttpClient client;
  Stats stats;
  Context context{.stats = &stats};

  std::string send(const HttpRequest& request) { return outcome(client.send(request, context)); }
  // "GET <url> <Authorization>" of each request.
  Lines sent_secrets() const {
    Lines lines;
    for (const SentRequest& request : client.sent()) {
      lines.push_back(fmt::format("{} {} {}", request.method, request.url, request.header("authorization")));
    }
    return lines;
  }
};

HttpRequest with_secret(std::string url) {
  HttpRequest request = get(std::move(url));
  request.secret_headers = {{"Authorization", SecretText("Bearer t")}};
  return request;
}

// The times of log lines differ from run to run.
class TimelessLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override {
    lines.push_back(fmt::format("{}: {}", to_string(level), line.substr(0, line.rfind(" in "))));
  }
  std::vector<std::string> lines;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(exchanging_client, RetryFixture)

BOOST_AUTO_TEST_CASE(an_answer) {
  client.on("https://h.test/a", "{}");
  const auto response = client.send(get("https://h.test/a"), context);
  BOOST_TEST(outcome(response) == "200 {}");
  BOOST_TEST(response->url.reveal() == "https://h.test/a");
  BOOST_TEST(response->header("content-type").value_or("") == "application/json");
  BOOST_TEST(stats.requests == 1);
  BOOST_TEST(stats.bytes == 2);
}

BOOST_AUTO_TEST_CASE(secrets_stay_with_their_origin) {
  struct Row {
    const char* name;
    const char* from;
    const char* location;
    const char* second;  // the request that followed
  };
  const Row rows[] = {
      {"same origin", "https://h.test/a", "/b", "GET https://h.test/b Bearer t"},
      {"other host", "https://h.test/a", "https://o.test/b", "GET https://o.test/b "},
      {"other port", "https://h.test/a", "https://h.test:444/b", "GET https://h.test:444/b "},
      {"other scheme", "http://h.test/a", "https://h.test/b", "GET https://h.test/b "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeHttpClient fake;
      fake.redirect(row.from, row.location);
      fake.on(std::string(row.second).substr(4, std::string(row.second).find(' ', 4) - 4), "ok");
      BOOST_TEST(outcome(fake.send(with_secret(row.from), context)) == "200 ok");
      BOOST_TEST(fake.sent().at(0).header("Authorization") == "Bearer t");
      const SentRequest second = fake.sent().at(1);
      BOOST_TEST(second.method + " " + second.url + " " + second.header("Authorization") == row.second);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_secret_once_dropped_stays_dropped) {
  client.redirect("https://h.test/a", "https://o.test/b");
  client.redirect("https://o.test/b", "https://h.test/c");
  client.on("https://h.test/c", "ok");
  BOOST_TEST(send(with_secret("https://h.test/a")) == "200 ok");
  BOOST_TEST(
      sent_secrets() == (Lines{"GET https://h.test/a Bearer t", "GET https://o.test/b ", "GET https://h.test/c "}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(user_info_is_basic_authorization) {
  client.redirect("https://h.test/a", "/b");
  client.redirect("https://h.test/b", "https://h.test/c");
  client.redirect("https://h.test/c", "https://o.test/d");
  client.redirect("https://o.test/d", "https://x:y@p.test/e");
  client.on("https://p.test/e", "ok");
  const auto response = client.send(get("https://us%40er:p%3Aw@h.test/a"), context);
  BOOST_TEST(outcome(response) == "200 ok");
  BOOST_TEST(response->url.reveal() == "https://x:y@p.test/e");
  // base64 of "us@er:p:w" and "x:y"
  BOOST_TEST(
      sent_secrets() == (Lines{"GET https://h.test/a Basic dXNAZXI6cDp3", "GET https://h.test/b Basic dXNAZXI6cDp3",
                               "GET https://h.test/c Basic dXNAZXI6cDp3", "GET https://o.test/d ",
                               "GET https://p.test/e Basic eDp5"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(user_info_yields_to_a_given_authorization) {
  client.on("https://h.test/a", "ok");
  BOOST_TEST(send(with_secret("https://u:p@h.test/a")) == "200 ok");
  BOOST_TEST(sent_secrets() == Lines{"GET https://h.test/a Bearer t"}, boost::test_tools::per_element());
  BOOST_TEST(client.sent()[0].headers.size() == 1U);
}

BOOST_AUTO_TEST_CASE(methods_after_a_redirect) {
  struct Row {
    HttpRequest::Method method;
    int status;
    const char* line;
    const char* body;
    const char* type;
  };
  using Method = HttpRequest::Method;
  const Row rows[] = {
      {Method::get, 303, "GET https://h.test/b", "", ""},     {Method::head, 303, "HEAD https://h.test/b", "", ""},
      {Method::head, 302, "HEAD https://h.test/b", "", ""},   {Method::post, 301, "GET https://h.test/b", "", ""},
      {Method::post, 302, "GET https://h.test/b", "", ""},    {Method::post, 303, "GET https://h.test/b", "", ""},
      {Method::post, 307, "POST https://h.test/b", "x", "t"}, {Method::post, 308, "POST https://h.test/b", "x", "t"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.status << " " << row.line) {
      FakeHttpClient fake;
      for (const char* method : {"GET", "HEAD", "POST"}) {
        fake.on(method, "https://h.test/a", {FakeAnswer{.status = row.status, .headers = {{"Location", "b"}}}});
        fake.on(method, "https://h.test/b", {FakeAnswer{}});
      }
      HttpRequest request = get("https://h.test/a");
      request.method = row.method;
      if (row.method == Method::post) {
        request.body = "x";
        request.headers = {{"Content-Type", "t"}};
      }
      BOOST_TEST(outcome(fake.send(request, context)) == "200 ");
      BOOST_TEST(fake.sent_lines().at(1) == row.line);
      BOOST_TEST(fake.sent().at(1).body == row.body);
      BOOST_TEST(fake.sent().at(1).header("Content-Type") == row.type);
    }
  }
}

BOOST_AUTO_TEST_CASE(redirects_are_counted) {
  client.redirect("https://h.test/a", "/a");
  BOOST_TEST(send(get("https://h.test/a")) ==
             "BAD_RESPONSE: could not read it: https://h.test/a: it was redirected more than 10 times (the server may "
             "have a redirect loop)");
  BOOST_TEST(client.sent().size() == 11U);
  BOOST_TEST(stats.requests == 11);
}

BOOST_AUTO_TEST_CASE(a_redirect_may_be_wanted_as_it_is) {
  client.redirect("https://h.test/a", "/b", 307);
  HttpRequest request = get("https://h.test/a");
  request.redirects = 0;
  BOOST_TEST(send(request) == "307 ");
}

BOOST_AUTO_TEST_CASE(bad_redirects) {
  client.redirect("https://h.test/a", "http://u:p@h.test/b?s3cret");
  client.redirect("https://h.test/b", "");
  BOOST_TEST(send(get("https://h.test/a")) ==
             "BAD_RESPONSE: could not read it: https://h.test/a: it redirects from https to http, which is not "
             "allowed: http://h.test/b");
  BOOST_TEST(send(get("https://h.test/b")) ==
             "BAD_RESPONSE: could not read it: https://h.test/b: it redirects without a Location header");
  BOOST_TEST(client.sent().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_redirect_is_judged_before_it_is_followed) {
  client.redirect("https://h.test/a", "https://u:s3cret@o.test/b?s3cret");
  Lines judged;
  context.check_source = [&](const Source& source, const ServerHop& hop) -> Result<void> {
    judged.push_back(source.identity() + ": " + hop.from + " -> " + hop.to);
    return fail(Code::source_denied, "the policy denies it", "ask");
  };
  HttpRequest request = get("https://h.test/a");
  const char* const kDenied =
      "SOURCE_DENIED: could not read it: https://h.test/a: it redirects to https://o.test/b: the policy denies it "
      "(ask)";
  BOOST_TEST(send(request) == kDenied);
  request.redirected_source = [](std::string_view url) -> Result<Source> {
    return parse_source("git::" + std::string(url)).value().source;
  };
  BOOST_TEST(send(request) == kDenied);
  BOOST_TEST(judged == (Lines{"https://o.test/b: https://h.test/a -> https://o.test/b",
                              "git::https://o.test/b: https://h.test/a -> https://o.test/b"}),
             boost::test_tools::per_element());
  request.redirected_source = [](std::string_view) -> Result<Source> { return fail(Code::bad_response, "not there"); };
  BOOST_TEST(send(request) ==
             "BAD_RESPONSE: could not read it: https://h.test/a: it redirects to https://o.test/b: not there");
  BOOST_TEST(client.sent().size() == 3U);
}

// A validator goes to the address that sent it, however it is signed, and to no other.
BOOST_AUTO_TEST_CASE(validators_go_where_they_came_from) {
  struct Row {
    const char* name;
    const char* validated;
    Lines sent;  // "" where the request has none
  };
  const Row rows[] = {
      {"the first address", "https://h.test/a", {"x", ""}},
      {"with another query and user", "https://u@h.test/a?signature=1", {"x", ""}},
      {"the target of the redirect", "https://o.test/b?signature=1", {"", "x"}},
      {"another path", "https://o.test/c", {"", ""}},
      {"another scheme", "http://o.test/b", {"", ""}},
      {"another port", "https://o.test:444/b", {"", ""}},
      {"no address", "", {"", ""}},
  };
  client.redirect("https://h.test/a", "https://o.test/b?signature=2");
  client.on("GET", "https://o.test/b?signature=2", {FakeAnswer{.body = "ok"}});
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      HttpRequest request = get("https://h.test/a");
      request.validators = {{"If-None-Match", "x"}};
      request.validated_address = *row.validated == '\0' ? "" : validator_scope(row.validated);
      const std::size_t before = client.sent().size();
      BOOST_TEST(send(request) == "200 ok");
      for (std::size_t i = 0; i < row.sent.size(); ++i) {
        BOOST_TEST(client.sent().at(before + i).header("If-None-Match") == row.sent[i]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(attempts) {
  const FakeAnswer busy{.status = 503};
  const FakeAnswer fine{.body = "ok"};
  const ExchangeFailure broken{.code = Code::unreachable, .reason = "broken off", .hint = "hint"};
  const ExchangeFailure untrusted{.code = Code::unreachable, .reason = "no trust", .is_final = true};
  struct Row {
    const char* name;
    std::vector<FakeHttpClient::Answer> answers;
    const char* expected;
    std::size_t requests;
  };
  const Row rows[] = {
      {"fine at once", {fine}, "200 ok", 1},
      {"500 then fine", {FakeAnswer{.status = 500}, fine}, "200 ok", 2},
      {"twice busy then fine", {busy, busy, fine}, "200 ok", 3},
      {"busy for ever", {busy}, "503 ", 3},
      {"broken then fine", {broken, fine}, "200 ok", 2},
      {"broken for ever", {broken}, "UNREACHABLE: could not read it: https://h.test/a: broken off (hint)", 3},
      {"TLS is not tried again", {untrusted}, "UNREACHABLE: could not read it: https://h.test/a: no trust", 1},
      {"404 is not tried again", {FakeAnswer{.status = 404}}, "404 ", 1},
      {"limited then fine", {FakeAnswer{.status = 429, .headers = {{"Retry-After", "1"}}}, fine}, "200 ok", 2},
      {"limited for ever", {FakeAnswer{.status = 429}}, "429 ", 3},
      {"limited for long", {FakeAnswer{.status = 429, .headers = {{"Retry-After", "61"}}}}, "429 ", 1},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeHttpClient fake;
      fake.on("GET", "https://h.test/a", row.answers);
      BOOST_TEST(outcome(fake.send(get("https://h.test/a"), context)) == row.expected);
      BOOST_TEST(fake.sent().size() == row.requests);
      BOOST_TEST(fake.waits().size() == row.requests - 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_request_is_logged_without_query_and_user_info) {
  TimelessLog log;
  context.log = &log;
  client.on("GET", "https://h.test/b?token=u", {FakeAnswer{.status = 503}, FakeAnswer{.body = "ok"}});
  client.redirect("https://h.test/a?token=t", "/b?token=u");
  client.on("POST", "https://h.test/p", {ExchangeFailure{.reason = "broken off", .is_final = true}});
  send(get("https://u:p@h.test/a?token=t"));
  HttpRequest post = get("https://h.test/p");
  post.method = HttpRequest::Method::post;
  send(post);
  BOOST_TEST(log.lines == (Lines{"debug: GET https://h.test/a: 302", "debug: GET https://h.test/b: 503",
                                 "debug: GET https://h.test/b: 200", "debug: POST https://h.test/p: broken off"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(waits_between_attempts) {
  client.on("GET", "https://h.test/a",
            {FakeAnswer{.status = 429, .headers = {{"Retry-After", "7"}}}, FakeAnswer{.status = 503}});
  BOOST_TEST(send(get("https://h.test/a")) == "503 ");
  const auto waits = client.waits();
  BOOST_TEST_REQUIRE(waits.size() == 2U);
  BOOST_TEST(waits[0].count() == 7'000);
  BOOST_TEST(waits[1].count() == 500);
}

BOOST_AUTO_TEST_CASE(no_wait_reaches_past_the_deadline) {
  client.on("GET", "https://h.test/a", {FakeAnswer{.status = 429, .headers = {{"Retry-After", "30"}}}});
  context.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  BOOST_TEST(send(get("https://h.test/a")) == "429 ");
  BOOST_TEST(client.sent().size() == 1U);
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_in_vain) {
  std::stop_source stopped;
  stopped.request_stop();
  struct Row {
    const char* name;
    HttpRequest request;
    Context context;
    const char* expected;
  };
  HttpRequest broken = get("https://h.test/");
  broken.secret_headers = {{"Authorization", SecretText("Bearer s3cret\r\nX: y")}};
  HttpRequest broken_value = get("https://h.test/");
  broken_value.headers = {{"Accept", "a\nb"}};
  HttpRequest broken_name = get("https://h.test/");
  broken_name.headers = {{"Acc\rept", "a"}};
  const Row rows[] = {
      {"offline", get("https://u:s3cret@h.test/?s3cret"), Context{.offline = true},
       "OFFLINE_MISS: could not read it: https://h.test/: network access is disabled in offline mode (run the command "
       "without offline mode)"},
      {"cancelled", get("https://h.test/"), Context{.stop = stopped.get_token()},
       "REQUEST_CANCELLED: could not read it: https://h.test/: the request was cancelled"},
      {"late", get("https://h.test/"), Context{.deadline = std::chrono::steady_clock::now()},
       "DEADLINE_EXCEEDED: could not read it: https://h.test/: the deadline of the request has passed (allow more time "
       "with a larger deadlineMs)"},
      {"ftp",
       get("ftp://h.test/"),
       {},
       "SOURCE_INVALID: could not read it: ftp://h.test/: only http and https URLs are supported"},
      {"no URL",
       get("s3cret"),
       {},
       "SOURCE_INVALID: could not read it: an invalid URL: only http and https URLs are supported"},
      {"a secret with a line end",
       broken,
       {},
       "SOURCE_INVALID: could not read it: https://h.test/: the secret header \"Authorization\" contains a line ending "
       "(check the token or password: it must be one line)"},
      {"a value with a line end",
       broken_value,
       {},
       "SOURCE_INVALID: could not read it: https://h.test/: the header \"Accept\" contains a line ending"},
      {"a name with a line end",
       broken_name,
       {},
       "SOURCE_INVALID: could not read it: https://h.test/: the header without a valid name contains a line ending"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(client.send(row.request, row.context)) == row.expected);
      BOOST_TEST(client.sent().empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_real_wait_ends_when_cancelled) {
  std::stop_source source;
  const std::jthread canceller([&] { source.request_stop(); });
  const auto start = std::chrono::steady_clock::now();
  real_retry_timing().wait(std::chrono::minutes(5), Context{.stop = source.get_token()});
  BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(60)));
  const double jitter = real_retry_timing().jitter();
  BOOST_TEST(jitter >= 0.0);
  BOOST_TEST(jitter < 1.0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
