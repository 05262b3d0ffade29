#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/http/http_client.h"
#include "tests/support/server_stream.h"

namespace modlock::test {

struct ReceivedRequest {
  std::string method;
  std::string target;  // with its query
  std::vector<HttpHeader> headers;
  std::string body;
  std::size_t connection = 0;  // 1 is the first that was accepted

  std::string path() const { return target.substr(0, target.find('?')); }
  // The first header of that name, without regard to case; "" where there is none.
  std::string header(std::string_view name) const;
};

struct ServerAnswer {
  int status = 200;
  std::vector<HttpHeader> headers = {};  // beside Content-Length
  std::string body = {};
};

// The bytes of an answer as they should be: status line, headers, Content-Length, body.
std::string wire_text(const ServerAnswer& answer, bool is_head = false);

// What is done with one request: writes to the stream, and says whether the connection stays open. `good` makes the
// answer that the server would give. faults.h has the named ones.
using Behaviour = std::function<bool(ServerStream& stream, const ReceivedRequest& request,
                                     const std::function<ServerAnswer()>& good)>;

// A server of HTTP/1.1 on the loopback that behaves well but where it is told not to. Plain or with TLS, a thread per
// connection, connections kept. Stopped when the object goes.
class FaultServer {
 public:
  using Handler = std::function<ServerAnswer(const ReceivedRequest&)>;

  // `handler` may be called from several threads. With a certificate the server speaks TLS.
  explicit FaultServer(Handler handler, const std::optional<ServerCertificate>& certificate = {});
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  // Which requests a behaviour is for: those whose path starts with `path`, without the first `skip` of them, and
  // `count` of the others. Of several rules the first that fits counts; all count what they see.
  struct Rule {
    Behaviour behaviour;
    std::string path = "/";
    std::size_t skip = 0;
    std::size_t count = static_cast<std::size_t>(-1);
  };
  void add(Rule rule);
  void clear_rules();

  int port() const { return port_; }
  std::string host() const { return "localhost:" + std::to_string(port_); }
  // "https://localhost:<port><path>"; another host where one is given.
  std::string url(std::string_view path, std::string_view host = "localhost") const;

  std::vector<ReceivedRequest> log() const;
  // "GET /path?query" of each, in the order of arrival.
  std::vector<std::string> lines() const;
  std::size_t connections() const;  // accepted so far
  void stop();

 private:
  struct Connection {
    std::unique_ptr<ServerStream> stream;
    std::jthread thread;
  };
  struct CountedRule {
    Rule rule;
    std::size_t seen = 0;
  };
  void accept_all();
  void serve(ServerStream& stream, std::size_t number);
  std::optional<Behaviour> behaviour_for(const ReceivedRequest& request);

  Handler handler_;
  std::optional<TlsIdentity> identity_;
  int socket_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  bool is_stopping_ = false;
  std::vector<CountedRule> rules_;
  std::vector<ReceivedRequest> log_;
  std::list<Connection> connections_;
  std::jthread acceptor_;
};

}  // namespace modlock::test
