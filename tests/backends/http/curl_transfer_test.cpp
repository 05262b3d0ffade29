#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/http/curl_http_client.h"
#include "tests/backends/http/http_fixture.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

// Counts what it is given, and may refuse.
class CountingSink final : public BodySink {
 public:
  Result<void> begin(std::optional<std::uint64_t> given) override {
    ++begun;
    length = given;
    bytes = 0;
    if (refuses_to_begin) {
      return fail(Code::io_error, "no room");
    }
    return {};
  }
  Result<void> write(std::string_view piece) override {
    bytes += piece.size();
    largest = std::max(largest, piece.size());
    if (bytes > room) {
      return fail(Code::io_error, "the disk is full", "make room");
    }
    return {};
  }

  int begun = 0;
  std::optional<std::uint64_t> length;
  std::uint64_t bytes = 0;
  std::size_t largest = 0;
  std::uint64_t room = std::uint64_t{1} << 40U;
  bool refuses_to_begin = false;
};

struct TransferFixture {
  CleanHttpEnvironment clean;
  std::unique_ptr<HttpClient> client = make_client_without_waits();
  Stats stats;
  Context context{.stats = &stats};
  CountingSink sink;

  std::string send(const HttpRequest& request) { return outcome(client->send(request, context)); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(curl_transfer, TransferFixture)

BOOST_AUTO_TEST_CASE(what_is_sent) {
  FaultServer server(always("ok"));
  HttpRequest request = get(server.url("/a/../b%2Fc?d=%2B#fragment", "LOCALHOST"));
  request.headers = {{"Accept", "application/json"}, {"X-Empty", ""}};
  request.secret_headers = {{"Authorization", SecretText("Bearer t")}};
  BOOST_TEST(send(request) == "200 ok");
  const ReceivedRequest got = server.log().at(0);
  BOOST_TEST(got.method == "GET");
  BOOST_TEST(got.target == "/a/../b%2Fc?d=%2B");
  BOOST_TEST(got.header("Host") == server.host());
  BOOST_TEST(got.header("Accept") == "application/json");
  BOOST_TEST(got.header("Authorization") == "Bearer t");
  BOOST_TEST(got.header("User-Agent") == "test/1");
  BOOST_TEST(got.header("Accept-Encoding") == "gzip, deflate");
  for (const char* name : {"Cookie", "Referer", "Expect", "Content-Type", "Connection"}) {
    BOOST_TEST(got.header(name) == "", name);
  }
  BOOST_TEST(std::count_if(got.headers.begin(), got.headers.end(),
                           [](const HttpHeader& header) { return header.name.substr(0, 7) == "X-Empty"; }) == 1);
}

BOOST_AUTO_TEST_CASE(a_request_may_name_its_user_agent) {
  FaultServer server(always("ok"));
  HttpRequest request = get(server.url("/"));
  request.headers = {{"User-Agent", "git/2.0"}};
  BOOST_TEST(send(request) == "200 ok");
  BOOST_TEST(server.log().at(0).header("User-Agent") == "git/2.0");
}

BOOST_AUTO_TEST_CASE(methods) {
  FaultServer server(
      [](const ReceivedRequest& request) { return ServerAnswer{.body = request.method + " " + request.body}; });
  HttpRequest request = get(server.url("/"));
  request.method = HttpRequest::Method::post;
  request.headers = {{"Content-Type", "application/x-git-upload-pack-request"}};
  request.body = std::string("0000\0done", 9);
  const auto posted = client->send(request, context);
  BOOST_TEST_REQUIRE(posted.has_value());
  BOOST_TEST(posted->body == "POST " + request.body);
  BOOST_TEST(server.log().at(0).header("Content-Type") == "application/x-git-upload-pack-request");
  request.body.clear();
  BOOST_TEST(send(request) == "200 POST ");
  request.body = std::string(3'000'000, 'x');
  request.retries = 0;
  const auto large = client->send(request, context);
  BOOST_TEST_REQUIRE(large.has_value());
  BOOST_TEST(large->body.size() == 3'000'005U);
  request.method = HttpRequest::Method::head;
  request.sink = &sink;
  const auto head = client->send(request, context);
  BOOST_TEST(outcome(head) == "200 ");
  BOOST_TEST(head->header("Content-Length").value_or("") == "5");
}

BOOST_AUTO_TEST_CASE(what_is_received) {
  struct Row {
    const char* name;
    const char* bytes;
    const char* header;
    const char* value;
    const char* expected;
  };
  const Row rows[] = {
      {"escapes are not decoded", "HTTP/1.1 200 OK\r\nX: a%2Bb%0d\r\nContent-Length: 2\r\n\r\nok", "x", "a%2Bb%0d",
       "200 ok"},
      {"outer blanks", "HTTP/1.1 200 OK\r\nX:  a b \t\r\nContent-Length: 2\r\n\r\nok", "x", "a b", "200 ok"},
      {"no length", "HTTP/1.1 200 OK\r\nX: y\r\n\r\nok", "x", "y", "200 ok"},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\nX: y\r\n\r\nok", "x", "y", "200 ok"},
      {"a folded header", "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length: 2\r\n\r\nok", "x", "a b", "200 ok"},
      {"a first status", "HTTP/1.1 103 Hints\r\nX: z\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nok",
       "x", "y", "200 ok"},
      {"a trailer", "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nZ: trailer\r\n\r\n",
       "z", "none", "200 ok"},
      {"no content", "HTTP/1.1 204 None\r\nX-Terraform-Get: ./x\r\n\r\n", "x-terraform-get", "./x", "204 "},
      {"not modified", "HTTP/1.1 304 Same\r\nETag: \"a%41\"\r\nContent-Length: 9\r\n\r\n", "etag", "\"a%41\"", "304 "},
      {"more than it says", "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nokokok", "x", "y", "200 ok"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FaultServer server(always(""));
      server.add({.behaviour = faults::bytes(row.bytes)});
      const auto result = client->send(get(server.url("/")), context);
      BOOST_TEST(outcome(result) == row.expected);
      BOOST_TEST_REQUIRE(result.has_value());
      BOOST_TEST(result->header(row.header).value_or("none") == row.value);
    }
  }
}

BOOST_AUTO_TEST_CASE(limits) {
  FaultServer server(always("0123456789"));
  server.add({.behaviour = faults::bytes("HTTP/1.1 200 OK\r\n\r\n0123456789"), .path = "/unsaid"});
  for (const char* path : {"/said", "/unsaid"}) {
    for (CountingSink* const into : {&sink, static_cast<CountingSink*>(nullptr)}) {
      BOOST_TEST_CONTEXT(path << (into == nullptr ? "" : " into a sink")) {
        HttpRequest request = get(server.url(path));
        request.sink = into;
        request.body_limit = 10;
        BOOST_TEST(send(request) == (into == nullptr ? "200 0123456789" : "200 "));
        request.body_limit = 9;
        BOOST_TEST(send(request) ==
                   fmt::format("LIMIT_EXCEEDED: could not read it: {}: the response is larger than 9 bytes",
                               server.url(path)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sink_sees_each_attempt_begin) {
  FaultServer server(always("0123456789"));
  server.add({.behaviour = faults::truncated(), .count = 1});
  HttpRequest request = get(server.url("/"));
  request.sink = &sink;
  BOOST_TEST(send(request) == "200 ");
  BOOST_TEST(sink.begun == 2);
  BOOST_TEST(sink.bytes == 10U);
  BOOST_TEST(sink.length.value_or(0) == 10U);
}

BOOST_AUTO_TEST_CASE(a_sink_gets_no_error_page) {
  FaultServer server(always("fine"));
  server.add({.behaviour = faults::answer({.status = 404, .body = "gone"})});
  HttpRequest request = get(server.url("/"));
  request.sink = &sink;
  BOOST_TEST(send(request) == "404 gone");
  BOOST_TEST(sink.begun == 0);
}

BOOST_AUTO_TEST_CASE(the_error_of_a_sink_is_the_error) {
  FaultServer server(always("0123456789"));
  HttpRequest request = get(server.url("/"));
  request.sink = &sink;
  sink.room = 5;
  BOOST_TEST(send(request) == "IO_ERROR: the disk is full (make room)");
  sink.refuses_to_begin = true;
  BOOST_TEST(send(request) == "IO_ERROR: no room");
  BOOST_TEST(server.log().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_hundred_megabytes_in_pieces) {
  constexpr std::size_t kSize = 100'000'000;
  FaultServer server(always(std::string(kSize, 'x')));
  HttpRequest request = get(server.url("/"));
  request.sink = &sink;
  request.body_limit = kSize;
  BOOST_TEST(send(request) == "200 ");
  BOOST_TEST(sink.bytes == kSize);
  BOOST_TEST(sink.length.value_or(0) == kSize);
  BOOST_TEST(sink.largest <= std::size_t{256} << 10U);
  BOOST_TEST(stats.bytes == kSize);
}

// The canary goes everywhere a secret can be; no error may show it.
BOOST_AUTO_TEST_CASE(no_error_shows_a_secret) {
  const std::string canary = "c4n4ry";
  const Behaviour behaviours[] = {faults::reset_mid_body(),
                                  faults::truncated(),
                                  faults::wrong_length("x"),
                                  faults::not_http(),
                                  faults::endless_header(),
                                  faults::no_answer(),
                                  faults::redirect_loop(),
                                  faults::status(401),
                                  faults::status(500),
                                  faults::redirect("http://u:" + canary + "@[bad"),
                                  faults::redirect("ftp://u:" + canary + "@h.test/?" + canary)};
  for (const Behaviour& behaviour : behaviours) {
    FaultServer server(always("0123456789"));
    server.add({.behaviour = behaviour});
    HttpRequest request = get(fmt::format("http://u:{0}@localhost:{1}/?{0}#{0}", canary, server.port()));
    request.secret_headers = {{"X-Token", SecretText(canary)}};
    const auto result = expect_success(client->send(request, context), request);
    BOOST_TEST_REQUIRE(!result);
    std::string shown = outcome(result);
    for (const std::string& note : result.error().notes) {
      shown += note;
    }
    BOOST_TEST(shown.find(canary) == std::string::npos, shown);
    BOOST_TEST(server.log().at(0).header("X-Token") == canary);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
