#include "plugin/mirror/mirror_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <thread>

#include "backends/base/digest.h"
#include "backends/package/pack.h"
#include "plugin/mirror/bounded_connections.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::size_t kMostBytes = 16U << 10U;
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kConnections = 32;
constexpr std::size_t kPrefixBytes = 16;

// The connection that this thread serves.
thread_local BoundedStream* current_stream = nullptr;

class BoundedServer final : public httplib::Server {
 public:
  explicit BoundedServer(const std::atomic<bool>& stopping) : stopping_(stopping) {
    new_task_queue = [this] {
      connections_ = prepared_.release();  // the library deletes it
      return connections_;
    };
  }

  // Starts the threads of the connections, before the library would on a thread that must not throw.
  void prepare() { prepared_ = std::make_unique<BoundedConnections>(kConnections); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    BoundedStream stream(socket, kMostBytes, kPatience, *connections_, stopping_);
    current_stream = &stream;
    const bool done = process(stream);
    current_stream = nullptr;
    return done;
  }

  // Later versions of cpp-httplib than 0.11 also take the addresses of both sides, which nothing here reads.
  bool process(auto& stream) {
    bool is_closed = false;
    if constexpr (requires { process_request(stream, true, is_closed, nullptr); }) {
      return process_request(stream, true, is_closed, nullptr);
    } else {
      return process_request(stream, "", 0, "", 0, true, is_closed, nullptr);
    }
  }

  std::unique_ptr<BoundedConnections> prepared_;
  BoundedConnections* connections_ = nullptr;
  const std::atomic<bool>& stopping_;
};

class LoopbackServer final : public MirrorServer {
 public:
  LoopbackServer(std::vector<MirroredModule> modules, const Context& context)
      : routes_(std::move(modules), "/" + random_hex(kPrefixBytes)), context_(context) {
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      respond(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.set_tcp_nodelay(true);
    server_.set_socket_options([](socket_t) {});  // the library would share the port
  }
  ~LoopbackServer() override {
    stopping_ = true;
    server_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  bool listen() {
    port_ = server_.bind_to_any_port("127.0.0.1");
    if (port_ <= 0) {
      return false;
    }
    server_.prepare();
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) {
      std::this_thread::yield();
    }
    return true;
  }

  std::map<std::string, std::string> modules_urls() const override {
    std::map<std::string, std::string> urls;
    for (const std::string& host : routes_.hosts()) {
      urls.emplace(host, base() + routes_.modules_path(host));
    }
    return urls;
  }

 private:
  std::string base() const { return fmt::format("http://127.0.0.1:{}", port_); }

  void respond(const httplib::Request& request, httplib::Response& response) const {
    // Rejects requests that a browser was made to send by another name for this address (DNS rebinding).
    if (request.get_header_value("Host") != fmt::format("127.0.0.1:{}", port_)) {
      response.status = 421;
      return;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response.status = 405;
      response.set_header("Allow", "GET, HEAD");
      return;
    }
    const MirrorResponse answer = routes_.answer(request.path);
    response.status = answer.status;
    if (answer.status != 404) {
      current_stream->set_proven();
    }
    if (!answer.location.empty()) {
      response.set_header("X-Terraform-Get", base() + answer.location);
    }
    if (answer.package != nullptr) {
      send_package(*answer.package, response);
    } else if (!answer.body.empty()) {
      response.set_content(answer.body, answer.type);
    }
  }

  void send_package(const MirroredModule& module, httplib::Response& response) const {
    response.set_chunked_content_provider(
        "application/gzip", [this, &module](std::size_t /*offset*/, httplib::DataSink& sink) {
          const auto packed = pack_tar_gz(
              module.directory, module.h1,
              [&](std::string_view piece) { return sink.is_writable() && sink.write(piece.data(), piece.size()); },
              context_);
          if (packed) {
            sink.done();
          } else if (packed.error().code != Code::io_error) {
            context_.log->write(LogLevel::error,
                                fmt::format("module {} {}: {}", module.name, module.version, packed.error().message));
          }
          return packed.has_value();
        });
  }

  RegistryRoutes routes_;
  const Context& context_;
  std::atomic<bool> stopping_{false};
  BoundedServer server_{stopping_};
  int port_ = 0;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<MirrorServer>> MirrorServer::start(std::vector<MirroredModule> modules, const Context& context) {
  auto server = std::make_unique<LoopbackServer>(std::move(modules), context);
  if (!server->listen()) {
    return fail(Code::io_error, "the mirror cannot listen on the loopback interface");
  }
  return server;
}

}  // namespace modlock
