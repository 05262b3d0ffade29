#include "backends/http/spare_connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "backends/base/descriptor.h"
#include "tests/backends/http/http_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/temporary_directory.h"

// A connection that stands ready saves a round trip; who gets it must not notice anything else.
namespace modlock::test {
namespace {

using http::SpareConnections;

// A server that accepts when it is told to.
class Listener {
 public:
  Listener() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    auto* address = reinterpret_cast<sockaddr*>(&here);
    socklen_t size = sizeof here;
    BOOST_TEST_REQUIRE(::bind(listening_.get(), address, size) == 0);
    BOOST_TEST_REQUIRE(::listen(listening_.get(), 8) == 0);
    BOOST_TEST_REQUIRE(::getsockname(listening_.get(), address, &size) == 0);
    address_ = {reinterpret_cast<const char*>(&here), size};
  }

  const std::string& address() const { return address_; }
  Descriptor accept() const { return Descriptor(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  bool has_another() const {
    pollfd look{.fd = listening_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, 0) == 1;
  }
  Descriptor connect() const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_TEST_REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(address_.data()),
                                 static_cast<socklen_t>(address_.size())) == 0);
    return socket;
  }

 private:
  Descriptor listening_;
  std::string address_;
};

// Waits until the other side has closed the connection.
void wait_for_end(int socket) {
  pollfd look{.fd = socket, .events = POLLIN, .revents = 0};
  BOOST_TEST_REQUIRE(::poll(&look, 1, 10'000) == 1);
}

// Answers when as many requests are there as were announced, so that each has a connection of its own.
class Meeting {
 public:
  void expect(std::size_t requests) {
    const std::scoped_lock lock(mutex_);
    expected_ = requests;
    here_ = 0;
  }
  FaultServer::Handler handler() {
    return [this](const ReceivedRequest&) {
      std::unique_lock lock(mutex_);
      if (++here_ == expected_ && when_met) {
        when_met();
      }
      changed_.notify_all();
      const bool met = changed_.wait_for(lock, std::chrono::seconds(10), [this] { return here_ >= expected_; });
      return ServerAnswer{.body = met ? "ok" : "alone"};
    };
  }

  std::function<void()> when_met;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t expected_ = 0;
  std::size_t here_ = 0;
};

struct Transfers {
  // So many requests at the same time.
  void send(const FaultServer& server, std::size_t count) {
    meeting.expect(count);
    std::vector<std::string> outcomes(count);
    {
      std::vector<std::jthread> threads;
      for (std::string& result : outcomes) {
        threads.emplace_back([&] { result = outcome(client->send(get(server.url("/")), context)); });
      }
    }
    BOOST_TEST(outcomes == std::vector<std::string>(count, "200 ok"), boost::test_tools::per_element());
  }

  CleanHttpEnvironment clean;
  Meeting meeting;
  Context context;
  std::unique_ptr<HttpClient> client;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spare_connections)

BOOST_AUTO_TEST_CASE(one_is_opened_and_taken_once) {
  const Listener server;
  const Listener other;
  const Descriptor like = server.connect();
  const Descriptor first = server.accept();
  SpareConnections spares;
  BOOST_TEST(spares.take(server.address()) == -1);
  spares.open_like(like.get());
  spares.open_like(like.get());
  const Descriptor second = server.accept();
  BOOST_TEST(!server.has_another());
  BOOST_TEST(spares.take(other.address()) == -1);
  const Descriptor taken(spares.take(server.address()));
  BOOST_TEST(http::is_connected(taken.get()));
  BOOST_TEST(::send(taken.get(), "x", 1, MSG_NOSIGNAL) == 1);
  char byte = 0;
  BOOST_TEST(::recv(second.get(), &byte, 1, 0) == 1);
  BOOST_TEST(spares.take(server.address()) == -1);
}

BOOST_AUTO_TEST_CASE(one_that_the_other_side_has_closed_is_not_taken) {
  const Listener server;
  const Descriptor like = server.connect();
  const Descriptor first = server.accept();
  SpareConnections spares;
  spares.open_like(like.get());
  const Descriptor taken(spares.take(server.address()));
  Descriptor second = server.accept();
  spares.open_like(like.get());
  Descriptor third = server.accept();
  third.reset();
  second.reset();
  wait_for_end(taken.get());  // closed after the spare one, on the same way
  BOOST_TEST(spares.take(server.address()) == -1);
}

BOOST_AUTO_TEST_CASE(nothing_is_opened_like_what_is_not_connected) {
  const Descriptor alone = Descriptor(http::open_socket(AF_INET, SOCK_STREAM, 0));
  BOOST_TEST(!http::is_connected(alone.get()));
  SpareConnections spares;
  spares.open_like(alone.get());
  spares.open_like(-1);
  BOOST_TEST(spares.take("") == -1);
}

// Two at a time have to connect: the third one, later, finds a connection.
BOOST_FIXTURE_TEST_CASE(the_next_request_goes_over_it, Transfers) {
  const TemporaryDirectory directory;
  std::optional<CertificateAuthority> authority;
  if (CertificateAuthority::available("a spare connection under TLS")) {
    authority.emplace(directory.path());
  }
  for (const bool secure : {false, true}) {
    if (secure && !authority) {
      continue;
    }
    BOOST_TEST_CONTEXT((secure ? "TLS" : "plain")) {
      const ScopedEnvironment trusted("SSL_CERT_FILE",
                                      secure ? std::optional(authority->certificate().string()) : std::nullopt);
      FaultServer server(meeting.handler(),
                         secure ? std::optional(authority->issue("server")) : std::optional<ServerCertificate>());
      client = make_client_without_waits();
      std::size_t connections = 0;
      meeting.when_met = [&] { connections = server.connections(); };
      send(server, 2);
      BOOST_TEST(connections == 2U);
      send(server, 3);
      BOOST_TEST(connections == 3U);
      BOOST_TEST(server.log().size() == 5U);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(none_is_opened_where_one_request_follows_another, Transfers) {
  FaultServer server(meeting.handler());
  client = make_client_without_waits();
  for (int i = 0; i < 3; ++i) {
    send(server, 1);
  }
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
