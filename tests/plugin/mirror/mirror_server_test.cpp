#include "plugin/mirror/mirror_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <thread>

#include "backends/package/tree_hash.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// A connection to the mirror, byte by byte.
class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Not a check: those are for one thread.
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      throw std::runtime_error("the mirror cannot be reached");
    }
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // How many bytes the other side took.
  std::size_t send(std::string_view bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) {
        break;
      }
      sent += static_cast<std::size_t>(n);
    }
    return sent;
  }
  // Up to the end of the stream.
  std::string receive() const {
    std::string text;
    char piece[4096];
    for (ssize_t n = 0; (n = ::recv(socket_, piece, sizeof(piece), 0)) > 0;) {
      text.append(piece, static_cast<std::size_t>(n));
    }
    return text;
  }

 private:
  int socket_;
};

struct ServerFixture {
  ServerFixture() {
    directory.write("tree/main.tf", "# main\n");
    h1 = hash_tree(directory / "tree", Context{}).value_or("none");
    auto started = MirrorServer::start({{.host = "a.example",
                                         .name = "acme/net/aws",
                                         .version = "1.2.0",
                                         .h1 = h1,
                                         .directory = directory / "tree",
                                         .subdir = ""}},
                                       context);
    BOOST_REQUIRE(started.has_value());
    server = std::move(*started);
    const std::string url = server->modules_urls().at("a.example");
    constexpr std::string_view kStart = "http://127.0.0.1:";
    BOOST_REQUIRE(url.starts_with(kStart));
    port = std::stoi(url.substr(kStart.size()));
    base = url.substr(url.find('/', kStart.size()));
    prefix = base.substr(0, base.find('/', 1));
  }
  std::string ask(const std::string& method, const std::string& path) const {
    const Connection connection(port);
    connection.send(method + " " + path + " HTTP/1.1\r\n" + host_line() + "\r\n");
    return connection.receive();
  }
  std::string host_line() const { return "Host: 127.0.0.1:" + std::to_string(port) + "\r\n"; }
  static std::string status(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

  TemporaryDirectory directory;
  std::string h1;
  Context context;
  std::unique_ptr<MirrorServer> server;
  int port = 0;
  std::string base;
  std::string prefix;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mirror_server, ServerFixture)

BOOST_AUTO_TEST_CASE(serves_what_is_locked) {
  BOOST_TEST(prefix.size() == 33U);
  const std::string versions = ask("GET", base + "acme/net/aws/versions");
  BOOST_TEST(status(versions) == "HTTP/1.1 200 OK");
  BOOST_TEST(versions.ends_with("\r\n\r\n{\"modules\":[{\"versions\":[{\"version\":\"1.2.0\"}]}]}"), versions);
  const std::string download = ask("GET", base + "acme/net/aws/1.2.0/download");
  BOOST_TEST(status(download) == "HTTP/1.1 204 No Content");
  BOOST_TEST(download.find("X-Terraform-Get: http://127.0.0.1:" + std::to_string(port) + prefix +
                           "/packages/0.tar.gz\r\n") != std::string::npos,
             download);
  const std::string package = ask("GET", prefix + "/packages/0.tar.gz");
  BOOST_TEST(status(package) == "HTTP/1.1 200 OK");
  BOOST_TEST(package.find("\x1f\x8b") != std::string::npos);
  BOOST_TEST(package.ends_with("0\r\n\r\n"));
  const std::string head = ask("HEAD", prefix + "/packages/0.tar.gz");
  BOOST_TEST(status(head) == "HTTP/1.1 200 OK");
  BOOST_TEST(head.ends_with("\r\n\r\n"));
  BOOST_TEST(status(ask("GET", "/")) == "HTTP/1.1 404 Not Found");
}

BOOST_AUTO_TEST_CASE(takes_get_and_head_alone) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    BOOST_TEST(status(ask(method, base + "acme/net/aws/versions")) == "HTTP/1.1 405 Method Not Allowed", method);
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_request) {
  const Connection connection(port);
  connection.send("hello\r\n\r\n");
  BOOST_TEST(status(connection.receive()) == "HTTP/1.1 400 Bad Request");
}

BOOST_AUTO_TEST_CASE(a_request_may_arrive_in_pieces) {
  const Connection connection(port);
  for (const char c : "GET " + base + "acme/net/aws/versions HTTP/1.1\r\n" + host_line() + "\r\n") {
    connection.send(std::string_view(&c, 1));
  }
  BOOST_TEST(status(connection.receive()) == "HTTP/1.1 200 OK");
}

BOOST_AUTO_TEST_CASE(a_damaged_package_does_not_come_to_its_end) {
  directory.write("tree/main.tf", "# other\n");
  BOOST_TEST(!ask("GET", prefix + "/packages/0.tar.gz").ends_with("0\r\n\r\n"));
}

BOOST_AUTO_TEST_CASE(a_flood_of_headers_is_cut_off) {
  const Connection connection(port);
  connection.send("GET / HTTP/1.1\r\n");
  const std::string line = "X-Flood: " + std::string(1000, 'x') + "\r\n";
  std::size_t sent = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t taken = connection.send(line);
    sent += taken;
    if (taken < line.size()) {
      break;
    }
  }
  BOOST_TEST(sent < 50'000'000U);
  BOOST_TEST(status(ask("GET", base + "acme/net/aws/versions")) == "HTTP/1.1 200 OK");
}

BOOST_AUTO_TEST_CASE(more_connections_than_are_served_wait_their_turn) {
  std::vector<std::thread> threads;
  std::atomic<int> served{0};
  for (int i = 0; i < 40; ++i) {
    threads.emplace_back(
        [&] { served += status(ask("GET", base + "acme/net/aws/versions")) == "HTTP/1.1 200 OK" ? 1 : 0; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  BOOST_TEST(served == 40);
}

BOOST_AUTO_TEST_CASE(slow_connections_of_others_do_not_block_it) {
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 34; ++i) {
    silent.push_back(std::make_unique<Connection>(port));
    silent.back()->send("GET /guessed HTTP/1.1\r\n");
  }
  const auto start = std::chrono::steady_clock::now();
  BOOST_TEST(status(ask("GET", base + "acme/net/aws/versions")) == "HTTP/1.1 200 OK");
  // Without a limit for others it waits the ten seconds that they may take.
  BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(8)));
}

BOOST_AUTO_TEST_CASE(rejects_requests_for_another_host) {
  for (const std::string& host :
       std::vector<std::string>{"attacker.example", "127.0.0.1", "localhost:" + std::to_string(port)}) {
    const Connection connection(port);
    connection.send("GET " + base + "acme/net/aws/versions HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    BOOST_TEST(status(connection.receive()) == "HTTP/1.1 421 Misdirected Request", host);
  }
}

BOOST_AUTO_TEST_CASE(ends_at_once_with_silent_connections_open) {
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 12; ++i) {
    silent.push_back(std::make_unique<Connection>(port));
  }
  const auto start = std::chrono::steady_clock::now();
  server.reset();
  BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(5)));
}

BOOST_AUTO_TEST_SUITE_END()
