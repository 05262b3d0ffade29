#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <future>
#include <optional>
#include <semaphore>
#include <thread>

#include "backends/base/parallel.h"
#include "tests/backends/http/http_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/faults.h"
#include "tests/support/temporary_directory.h"

// Connections are what costs round trips: each test counts those that the server accepted.
namespace modlock::test {
namespace {

constexpr std::size_t kRequests = 20;
constexpr std::size_t kThreads = 4;

struct ConnectionFixture {
  CleanHttpEnvironment clean;
  std::unique_ptr<HttpClient> client = make_client_without_waits();
  FaultServer server{always("ok")};
  Context context;

  void send(const std::string& url) const { BOOST_TEST(outcome(client->send(get(url), context)) == "200 ok"); }
  void send_in_parallel(const std::string& url) const {
    std::vector<std::string> outcomes(kRequests);
    parallel_for(kRequests, kThreads, [&](std::size_t i) { outcomes[i] = outcome(client->send(get(url), context)); });
    BOOST_TEST(outcomes == std::vector<std::string>(kRequests, "200 ok"), boost::test_tools::per_element());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(curl_connection, ConnectionFixture)

BOOST_AUTO_TEST_CASE(one_connection_for_one_thread) {
  for (std::size_t i = 0; i < kRequests; ++i) {
    send(server.url("/"));
  }
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(no_more_connections_than_threads) {
  send_in_parallel(server.url("/"));
  send_in_parallel(server.url("/"));
  BOOST_TEST(server.log().size() == 2 * kRequests);
  BOOST_TEST(server.connections() <= kThreads);
}

// Of more requests than connections, some wait, and all are answered.
BOOST_AUTO_TEST_CASE(a_host_has_as_many_connections_as_allowed) {
  for (const std::size_t most : {std::size_t{1}, std::size_t{2}, std::size_t{8}}) {
    FaultServer fresh(always("ok"));
    client = make_client_without_waits(most);
    send_in_parallel(fresh.url("/"));
    BOOST_TEST(fresh.log().size() == kRequests);
    BOOST_TEST(fresh.connections() <= most);
    BOOST_TEST(fresh.connections() >= 1U);
  }
}

// A request that waits for a connection ends when it should, and keeps none from another host.
BOOST_AUTO_TEST_CASE(waiting_for_a_connection_ends) {
  client = make_client_without_waits(1);
  HeldServer held;
  FaultServer other(always("ok"));
  std::stop_source stopped;
  const Context ended{.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20)};
  const Context cancelled{.stop = stopped.get_token()};
  auto first =
      std::async(std::launch::async, [&] { return outcome(client->send(get(held.server.url("/held")), context)); });
  held.arrived.acquire();
  std::vector<std::string> outcomes;
  outcomes.push_back(outcome(client->send(get(held.server.url("/held")), ended)));
  std::jthread waits([&] { outcomes.push_back(outcome(client->send(get(held.server.url("/held")), cancelled))); });
  stopped.request_stop();
  waits.join();
  outcomes.push_back(outcome(client->send(get(other.url("/")), context)));
  const std::vector<std::string> expected = {
      fmt::format("DEADLINE_EXCEEDED: could not read it: {}: the deadline of the request has passed (allow more time "
                  "with a larger deadlineMs)",
                  held.server.url("/held")),
      fmt::format("REQUEST_CANCELLED: could not read it: {}: the request was cancelled", held.server.url("/held")),
      "200 ok"};
  BOOST_TEST(outcomes == expected, boost::test_tools::per_element());
  BOOST_TEST(held.server.log().size() == 1U);
  held.released.release(2);
  BOOST_TEST(first.get() == "200 ok");
  send(held.server.url("/held"));
  BOOST_TEST(held.server.connections() == 1U);
}

// No timeout counts the time that a request waits for the connection of another one.
BOOST_AUTO_TEST_CASE(no_timeout_counts_waiting) {
  client = make_client_without_waits(1);
  FaultServer slow(always("ten bytes."));
  slow.add({.behaviour = faults::slow_drip(std::chrono::milliseconds(20)), .count = 1});
  auto first = std::async(std::launch::async, [&] { return outcome(client->send(get(slow.url("/")), context)); });
  while (slow.log().empty()) {
    std::this_thread::yield();
  }
  HttpRequest request = get(slow.url("/"));
  request.retries = 0;
  request.timeouts.connect = request.timeouts.idle = std::chrono::milliseconds(50);
  request.timeouts.total = std::chrono::milliseconds(100);
  BOOST_TEST(outcome(client->send(request, context)) == "200 ten bytes.");
  BOOST_TEST(slow.connections() == 1U);
  BOOST_TEST(first.get() == "200 ten bytes.");
}

// A sink that takes its time keeps nothing from others, not even the connection once the answer is there.
BOOST_AUTO_TEST_CASE(a_slow_sink_holds_up_nobody) {
  client = make_client_without_waits(1);
  HeldSink sink;
  HttpRequest request = get(server.url("/"));
  request.sink = &sink;
  auto first = std::async(std::launch::async, [&] { return outcome(client->send(request, context)); });
  sink.reached.acquire();
  send_in_parallel(server.url("/"));
  BOOST_TEST(server.connections() == 1U);
  sink.released.release();
  BOOST_TEST(first.get() == "200 ");
}

// What is more than the memory between them holds waits on the wire.
BOOST_AUTO_TEST_CASE(a_slow_sink_of_a_large_body) {
  client = make_client_without_waits(2);
  constexpr std::size_t kSize = 50'000'000;
  server.add({.behaviour = faults::answer({.body = std::string(kSize, 'x')}), .path = "/large"});
  HeldSink sink;
  HttpRequest request = get(server.url("/large"));
  request.sink = &sink;
  request.body_limit = kSize;
  auto first = std::async(std::launch::async, [&] { return outcome(client->send(request, context)); });
  sink.reached.acquire();
  send_in_parallel(server.url("/"));
  BOOST_TEST(server.connections() == 2U);
  sink.released.release();
  BOOST_TEST(first.get() == "200 ");
  BOOST_TEST(sink.bytes == kSize);
}

BOOST_AUTO_TEST_CASE(large_downloads_have_connections_of_their_own) {
  client = make_client_without_waits(1);
  HeldServer held;
  HttpRequest large = get(held.server.url("/held"));
  large.is_large = true;
  auto first = std::async(std::launch::async, [&] { return outcome(client->send(large, context)); });
  held.arrived.acquire();
  send(held.server.url("/other"));
  BOOST_TEST(held.server.connections() == 2U);
  held.released.release();
  BOOST_TEST(first.get() == "200 ok");
}

BOOST_AUTO_TEST_CASE(connections_of_ended_threads_serve_on) {
  for (std::size_t i = 0; i < kRequests; ++i) {
    std::jthread([&] { send(server.url("/")); }).join();
  }
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(each_server_keeps_its_connection) {
  FaultServer other(always("ok"));
  for (std::size_t i = 0; i < kRequests; ++i) {
    send(server.url("/"));
    send(other.url("/"));
  }
  BOOST_TEST(server.connections() == 1U);
  BOOST_TEST(other.connections() == 1U);
}

// A request to one server does not keep the connection to another one busy.
BOOST_AUTO_TEST_CASE(each_server_has_its_connections_to_itself) {
  FaultServer other(always("ok"));
  struct Interruption final : BodySink {
    Result<void> begin(std::optional<std::uint64_t>) override { return {}; }
    Result<void> write(std::string_view) override {
      send();
      return {};
    }
    std::function<void()> send;
  } interruption;
  interruption.send = [&] { send(other.url("/")); };
  send(server.url("/"));
  send(other.url("/"));
  HttpRequest request = get(server.url("/"));
  request.sink = &interruption;
  BOOST_TEST(client->send(request, context).has_value());
  BOOST_TEST(other.log().size() == 2U);
  BOOST_TEST(server.connections() == 1U);
  BOOST_TEST(other.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(a_redirect_keeps_the_connection) {
  server.add({.behaviour = faults::redirect("/b"), .path = "/a"});
  send(server.url("/a"));
  BOOST_TEST(server.log().size() == 2U);
  BOOST_TEST(server.connections() == 1U);
}

// What the server closed meanwhile is noticed: the request goes out on a new connection.
BOOST_AUTO_TEST_CASE(a_connection_that_was_closed) {
  server.add({.behaviour = faults::bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .count = 1});
  send(server.url("/"));
  HttpRequest request = get(server.url("/"));
  request.retries = 0;
  BOOST_TEST(outcome(client->send(request, context)) == "200 ok");
  BOOST_TEST(server.connections() == 2U);
}

BOOST_AUTO_TEST_CASE(no_cookie_is_kept) {
  server.add({.behaviour = faults::answer({.headers = {{"Set-Cookie", "a=b; Path=/"}}, .body = "ok"}), .count = 1});
  send(server.url("/"));
  send(server.url("/"));
  BOOST_TEST(server.log().at(1).header("Cookie") == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
