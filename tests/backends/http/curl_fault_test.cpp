#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "backends/base/parallel.h"
#include "backends/http/curl_http_client.h"
#include "tests/backends/http/http_fixture.h"
#include "tests/support/faults.h"
#include "tests/support/loopback.h"

namespace modlock::test {
namespace {

using std::chrono::milliseconds;

struct FaultFixture {
  CleanHttpEnvironment clean;
  std::unique_ptr<HttpClient> client = make_client_without_waits();
  Stats stats;
  Context context{.stats = &stats};
};

// What outcome() shows, without "could not read it: <URL>: ".
std::string reason(const Result<HttpResponse>& result, const std::string& shown_url) {
  std::string text = outcome(result);
  const std::string prefix = fmt::format("could not read it: {}: ", shown_url);
  if (const std::size_t at = text.find(prefix); at != std::string::npos) {
    text.erase(at, prefix.size());
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(curl_fault, FaultFixture)

BOOST_AUTO_TEST_CASE(servers_that_fail) {
  constexpr const char* kEnded = "UNREACHABLE: the body was truncated";
  struct Row {
    const char* name;
    Behaviour behaviour;
    const char* expected;
    std::size_t requests;
  };
  const Row rows[] = {
      {"reset in the body", faults::reset_mid_body(), "UNREACHABLE: the connection was interrupted", 3},
      {"truncated", faults::truncated(), kEnded, 3},
      {"longer than it says", faults::wrong_length("100"), kEnded, 3},
      {"a length that is none", faults::wrong_length("-5"), "BAD_RESPONSE: invalid Content-Length", 1},
      {"a length in words", faults::wrong_length("many"), "BAD_RESPONSE: invalid Content-Length", 1},
      {"headers without end", faults::endless_headers(), "BAD_RESPONSE: its headers are larger than 256 KiB", 1},
      {"a header without end", faults::endless_header(), "BAD_RESPONSE: a header is too long", 1},
      {"a body without end", faults::endless_body(), "LIMIT_EXCEEDED: the response is larger than 16777216 bytes", 1},
      {"not HTTP", faults::not_http(), "BAD_RESPONSE: the response is not HTTP", 1},
      {"no answer", faults::no_answer(), "UNREACHABLE: the connection was closed without a response", 3},
      {"chunks that are none", faults::bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
       "BAD_RESPONSE: the chunked encoding of the body is malformed", 1},
      {"chunks that end early", faults::bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"), kEnded,
       3},
      {"gzip that is none",
       faults::answer({.headers = {{"Content-Encoding", "gzip"}}, .body = "this is no gzip at all, is it?"}),
       "BAD_RESPONSE: the body does not match its Content-Encoding", 1},
      {"an endless page of an error", faults::endless_body(404), "404", 1},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FaultServer server(always("0123456789"));
      server.add({.behaviour = row.behaviour});
      const auto result = client->send(get(server.url("/a?token=s3cret")), context);
      BOOST_TEST(reason(result, server.url("/a")).substr(0, std::string(row.expected) == "404" ? 3 : 999) ==
                 row.expected);
      BOOST_TEST(server.log().size() == row.requests);
    }
  }
}

BOOST_AUTO_TEST_CASE(servers_that_recover) {
  struct Row {
    const char* name;
    Behaviour behaviour;
  };
  const Row rows[] = {
      {"reset then fine", faults::reset_mid_body()},
      {"truncated then fine", faults::truncated()},
      {"no answer then fine", faults::no_answer()},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FaultServer server(always("fine"));
      server.add({.behaviour = row.behaviour, .count = 1});
      BOOST_TEST(outcome(client->send(get(server.url("/")), context)) == "200 fine");
      BOOST_TEST(server.log().size() == 2U);
    }
  }
}

BOOST_AUTO_TEST_CASE(nobody_there) {
  const RefusedPort refused;
  const std::string url = fmt::format("http://127.0.0.1:{}/", refused.port());
  BOOST_TEST(reason(client->send(get(url), context), url) ==
             fmt::format("UNREACHABLE: 127.0.0.1:{} refused the connection (check the address, and the network and "
                         "proxy settings of this machine)",
                         refused.port()));
  BOOST_TEST(stats.requests == 3);
}

// A label over 63 bytes is no name for any resolver, so none is asked.
BOOST_AUTO_TEST_CASE(no_such_host) {
  const std::string url = fmt::format("http://{}.test/", std::string(64, 'a'));
  BOOST_TEST(reason(client->send(get(url), context), url) ==
             "UNREACHABLE: the host name could not be resolved (check the host name, and the name service and proxy "
             "settings of this machine)");
}

BOOST_AUTO_TEST_CASE(clocks) {
  constexpr const char* kSlow = " (try again later; the server or the network is slow)";
  struct Row {
    const char* name;
    Behaviour behaviour;
    HttpTimeouts timeouts;
    std::string expected;
    std::size_t requests = 3;
  };
  const Row rows[] = {
      {"a black hole",
       faults::black_hole(),
       {.idle = milliseconds(50)},
       std::string("TIMEOUT: the server was silent for 50 ms") + kSlow},
      {"silence in the body",
       faults::slow_drip(std::chrono::minutes(5)),
       {.idle = milliseconds(50)},
       std::string("TIMEOUT: the server was silent for 50 ms") + kSlow},
      {"a slow drip",
       faults::slow_drip(milliseconds(20)),
       {.total = milliseconds(100)},
       std::string("TIMEOUT: the response was not complete within 100 ms") + kSlow},
      {"a slow drip with one time for all attempts",
       faults::slow_drip(milliseconds(20)),
       {.total = milliseconds(100), .include_retries = true},
       std::string("TIMEOUT: the response was not complete within 100 ms") + kSlow,
       1},
      {"a black hole with one silence for all attempts",
       faults::black_hole(),
       {.idle = milliseconds(50), .include_retries = true},
       std::string("TIMEOUT: the server was silent for 50 ms") + kSlow,
       1},
      {"no time for a connection closed at once",
       faults::no_answer(),
       {.idle = std::chrono::minutes(5), .include_retries = true},
       "UNREACHABLE: the connection was closed without a response"},
      {"a slow drip of what may take its time",
       faults::slow_drip(milliseconds(20)),
       {.least_rate = 5000, .rate_window = milliseconds(100)},
       std::string("TIMEOUT: the response arrived at less than 5000 bytes per second for 100 ms") + kSlow},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FaultServer server(always(std::string(1000, 'x')));
      server.add({.behaviour = row.behaviour});
      HttpRequest request = get(server.url("/"));
      request.timeouts = row.timeouts;
      BOOST_TEST(reason(client->send(request, context), server.url("/")) == row.expected);
      BOOST_TEST(server.log().size() == row.requests);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_handshake_in_silence) {
  const SilentServer silent;
  const std::string url = fmt::format("https://localhost:{}/", silent.port());
  HttpRequest request = get(url);
  request.timeouts.connect = milliseconds(50);
  request.retries = 0;
  // The second one waits for the first to learn whether one connection serves both.
  std::vector<std::string> reasons(2);
  parallel_for(2, 2, [&](std::size_t i) { reasons[i] = reason(client->send(request, context), url); });
  for (const std::string& each : reasons) {
    BOOST_TEST(each ==
               "TIMEOUT: no connection within 50 ms (check the address, and the network and proxy settings of this "
               "machine)");
  }
}

BOOST_AUTO_TEST_CASE(the_deadline_of_the_context) {
  FaultServer server(always("x"));
  server.add({.behaviour = faults::black_hole()});
  context.deadline = std::chrono::steady_clock::now() + milliseconds(60);
  BOOST_TEST(reason(client->send(get(server.url("/")), context), server.url("/")) ==
             "DEADLINE_EXCEEDED: the deadline of the request has passed (allow more time with a larger deadlineMs)");
  BOOST_TEST(server.log().size() == 1U);
}

// No clock of the request would end these before minutes have passed.
BOOST_AUTO_TEST_CASE(cancellation) {
  FaultServer server(always(std::string(1000, 'x')));
  server.add({.behaviour = faults::black_hole(), .path = "/silent"});
  server.add({.behaviour = faults::slow_drip(std::chrono::minutes(5)), .path = "/drip"});
  for (const char* path : {"/silent", "/drip"}) {
    BOOST_TEST_CONTEXT(path) {
      std::stop_source source;
      context.stop = source.get_token();
      const std::size_t before = server.log().size();
      const std::jthread canceller([&] {
        while (server.log().size() == before) {
          std::this_thread::yield();
        }
        source.request_stop();
      });
      HttpRequest request = get(server.url(path));
      request.timeouts.idle = std::chrono::minutes(5);
      const auto start = std::chrono::steady_clock::now();
      BOOST_TEST(reason(client->send(request, context), server.url(path)) ==
                 "REQUEST_CANCELLED: the request was cancelled");
      BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(30)));
    }
  }
}

BOOST_AUTO_TEST_CASE(cancelled_between_attempts) {
  const auto real = make_curl_http_client("test/1");
  FaultServer server(always("x"));
  server.add({.behaviour = faults::rate_limited("50")});
  std::stop_source source;
  context.stop = source.get_token();
  const std::jthread canceller([&] {
    while (server.log().empty()) {
      std::this_thread::yield();
    }
    source.request_stop();
  });
  BOOST_TEST(reason(real->send(get(server.url("/")), context), server.url("/")) ==
             "REQUEST_CANCELLED: the request was cancelled");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
