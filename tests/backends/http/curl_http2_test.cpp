#include <boost/test/unit_test.hpp>
#include <future>
#include <optional>
#include <set>
#include <thread>

#include "backends/base/parallel.h"
#include "tests/backends/http/http_fixture.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"

// A server that speaks HTTP/2: requests share one connection.
namespace modlock::test {
namespace {

constexpr std::size_t kStreams = 20;
constexpr std::size_t kLarge = 50'000'000;

struct Http2Fixture {
  Http2Fixture() {
    write_text(server.files() / "small", "ok");
    write_text(server.files() / "large", std::string(kLarge, 'x'));
  }

  HttpRequest request(std::string_view path) const {
    HttpRequest request = get(server.http2_url(path));
    request.body_limit = kLarge;
    return request;
  }
  void send_in_parallel() const {
    std::vector<std::string> outcomes(kStreams);
    parallel_for(kStreams, kStreams,
                 [&](std::size_t i) { outcomes[i] = outcome(client->send(request("small"), context)); });
    BOOST_TEST(outcomes == std::vector<std::string>(kStreams, "200 ok"), boost::test_tools::per_element());
  }
  std::size_t connections() const {
    const std::vector<std::string> log = server.http2_log();
    std::set<std::string> numbers;
    for (const std::string& line : log) {
      numbers.insert(line.substr(0, line.find(' ')));
    }
    return numbers.size();
  }

  CleanHttpEnvironment clean;
  HttpsGitServer server;
  ScopedEnvironment trusted{"SSL_CERT_FILE", server.authority().string()};
  std::unique_ptr<HttpClient> client = make_client_without_waits();
  Context context;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(curl_http2, *needs(HttpsGitServer::kPrograms))

BOOST_FIXTURE_TEST_CASE(requests_share_a_connection, Http2Fixture) {
  for (const std::size_t most : {std::size_t{1}, std::size_t{8}}) {
    const std::size_t before = server.http2_log().size();
    client = make_client_without_waits(most);
    send_in_parallel();
    send_in_parallel();
    const std::vector<std::string> log = server.http2_log();
    BOOST_TEST(log.size() >= before + 2 * kStreams);  // on a busy machine a request may be sent again
    BOOST_TEST(log.back().ends_with(" HTTP/2.0"));
  }
  BOOST_TEST(connections() == 2U);  // one of each client
}

BOOST_FIXTURE_TEST_CASE(an_answer_is_like_any_other, Http2Fixture) {
  const auto answer = client->send(request("small"), context);
  BOOST_TEST_REQUIRE(answer.has_value());
  BOOST_TEST(answer->status == 200);
  BOOST_TEST(answer->header("Content-Type").value_or("") == "application/json");
  BOOST_TEST(outcome(client->send(request("none"), context)).starts_with("404 "));
  HttpRequest missing = request("limited/");
  missing.retries = 0;
  BOOST_TEST(outcome(client->send(missing, context)).starts_with("429 "));
}

BOOST_FIXTURE_TEST_CASE(a_slow_sink_holds_up_nobody, Http2Fixture) {
  HeldSink sink;
  HttpRequest slow = request("small");
  slow.sink = &sink;
  auto first = std::async(std::launch::async, [&] { return outcome(client->send(slow, context)); });
  sink.reached.acquire();
  send_in_parallel();
  BOOST_TEST(connections() == 1U);
  sink.released.release();
  BOOST_TEST(first.get() == "200 ");
}

// It would keep what comes behind it on a connection that it shares.
BOOST_FIXTURE_TEST_CASE(a_large_download_has_a_connection_to_itself, Http2Fixture) {
  client = make_client_without_waits(1);
  HeldSink sink;
  HttpRequest slow = request("large");
  slow.sink = &sink;
  slow.is_large = true;
  auto first = std::async(std::launch::async, [&] { return outcome(client->send(slow, context)); });
  sink.reached.acquire();
  send_in_parallel();
  sink.released.release();
  BOOST_TEST(first.get() == "200 ");
  BOOST_TEST(sink.bytes == kLarge);
  BOOST_TEST(connections() == 2U);
  BOOST_TEST(server.http2_log().back().ends_with(" HTTP/1.1"));
}

// The memory between wire and sink is small, whatever else comes over the connection.
BOOST_FIXTURE_TEST_CASE(pauses_lose_nothing, Http2Fixture) {
  std::vector<std::string> outcomes(4);
  std::vector<std::size_t> sizes(4);
  parallel_for(4, 4, [&](std::size_t i) {
    HeldSink sink;
    sink.released.release();
    HttpRequest slow = request("large");
    slow.sink = &sink;
    outcomes[i] = outcome(client->send(slow, context));
    sizes[i] = sink.bytes;
  });
  BOOST_TEST(outcomes == std::vector<std::string>(4, "200 "), boost::test_tools::per_element());
  BOOST_TEST(sizes == std::vector<std::size_t>(4, kLarge), boost::test_tools::per_element());
  BOOST_TEST(connections() == 1U);
}

BOOST_FIXTURE_TEST_CASE(what_is_cancelled_leaves_the_connection_to_others, Http2Fixture) {
  send_in_parallel();
  std::stop_source stopped;
  HeldSink sink;
  HttpRequest slow = request("large");
  slow.sink = &sink;
  std::jthread first([&] {
    BOOST_TEST(outcome(client->send(slow, {.stop = stopped.get_token()})).starts_with("REQUEST_CANCELLED: "));
  });
  sink.reached.acquire();
  stopped.request_stop();
  sink.released.release();
  first.join();
  BOOST_TEST(sink.bytes < kLarge);
  send_in_parallel();
  BOOST_TEST(connections() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
