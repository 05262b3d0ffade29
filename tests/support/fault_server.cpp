#include "tests/support/fault_server.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "backends/base/ascii.h"
#include "backends/http/http_client.h"
#include "tests/support/loopback.h"

namespace modlock::test {
namespace {

std::string header_in(const std::vector<HttpHeader>& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& header) {
    return ascii::equals_ignoring_case(header.name, name);
  });
  return found == headers.end() ? std::string() : found->value;
}

// Takes one line with its CRLF off the front.
std::string take_line(std::string& text) {
  const std::size_t end = text.find("\r\n");
  std::string line = text.substr(0, end);
  text.erase(0, end + 2);
  return line;
}

// Reads one request; what came behind it stays in `pending`. nullopt at the end of the stream.
std::optional<ReceivedRequest> read_request(ServerStream& stream, std::string& pending) {
  while (pending.find("\r\n\r\n") == std::string::npos) {
    if (!stream.read(pending)) {
      return std::nullopt;
    }
    if (pending[0] < 'A' || pending[0] > 'Z') {  // the start of TLS, for one
      stream.write(wire_text({.status = 400}));
      return std::nullopt;
    }
  }
  ReceivedRequest request;
  const std::string first = take_line(pending);
  request.method = first.substr(0, first.find(' '));
  const std::size_t start = std::min(request.method.size() + 1, first.size());
  request.target = first.substr(start, first.rfind(' ') - start);
  for (std::string line = take_line(pending); !line.empty(); line = take_line(pending)) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    request.headers.push_back({line.substr(0, colon), line.substr(std::min(colon + 2, line.size()))});
  }
  const std::size_t length = std::strtoul(request.header("Content-Length").c_str(), nullptr, 10);
  while (pending.size() < length) {
    if (!stream.read(pending)) {
      return std::nullopt;
    }
  }
  request.body = pending.substr(0, length);
  pending.erase(0, length);
  return request;
}

// A client that goes is no reason to end: the signal stays pending on a thread of ours, and goes with it.
void block_pipe_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

std::string ReceivedRequest::header(std::string_view name) const {
  return header_in(headers, name);
}

std::string wire_text(const ServerAnswer& answer, bool is_head) {
  std::string text = fmt::format("HTTP/1.1 {} Status\r\n", answer.status);
  for (const HttpHeader& header : answer.headers) {
    text += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  if (answer.status == 204 || answer.status == 304) {
    return text + "\r\n";
  }
  text += fmt::format("Content-Length: {}\r\n\r\n", answer.body.size());
  return is_head ? text : text + answer.body;
}

FaultServer::FaultServer(Handler handler, const std::optional<ServerCertificate>& certificate)
    : handler_(std::move(handler)) {
  if (certificate) {
    identity_.emplace(*certificate);
  }
  std::tie(socket_, port_) = listen_on_loopback();
  acceptor_ = std::jthread([this] { accept_all(); });
}

FaultServer::~FaultServer() {
  stop();
}

void FaultServer::stop() {
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) {
      return;
    }
    is_stopping_ = true;
    for (const Connection& connection : connections_) {
      connection.stream->shut_down();
    }
  }
  ::shutdown(socket_, SHUT_RDWR);
  acceptor_.join();
  connections_.clear();
  ::close(socket_);
}

void FaultServer::accept_all() {
  while (true) {
    const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::scoped_lock lock(mutex_);
    if (client < 0 || is_stopping_) {
      ::close(client);
      return;
    }
    Connection& connection = connections_.emplace_back();
    connection.stream = std::make_unique<ServerStream>(client, identity_ ? &*identity_ : nullptr);
    connection.thread = std::jthread([this, &stream = *connection.stream, number = connections_.size()] {
      block_pipe_signal();
      serve(stream, number);
      stream.finish();
    });
  }
}

std::optional<Behaviour> FaultServer::behaviour_for(const ReceivedRequest& request) {
  const std::scoped_lock lock(mutex_);
  log_.push_back(request);
  std::optional<Behaviour> chosen;
  for (CountedRule& counted : rules_) {
    const Rule& rule = counted.rule;
    if (request.target.compare(0, rule.path.size(), rule.path) != 0) {
      continue;
    }
    const std::size_t number = counted.seen++;
    if (!chosen && number >= rule.skip && number - rule.skip < rule.count) {
      chosen = rule.behaviour;
    }
  }
  return chosen;
}

void FaultServer::serve(ServerStream& stream, std::size_t number) {
  if (!stream.accept()) {
    return;
  }
  std::string pending;
  while (auto request = read_request(stream, pending)) {
    request->connection = number;
    if (const auto behaviour = behaviour_for(*request)) {
      if (!(*behaviour)(stream, *request, [&] { return handler_(*request); })) {
        return;
      }
    } else if (!stream.write(wire_text(handler_(*request), request->method == "HEAD"))) {
      return;
    }
  }
}

void FaultServer::add(Rule rule) {
  const std::scoped_lock lock(mutex_);
  rules_.push_back({.rule = std::move(rule)});
}

void FaultServer::clear_rules() {
  const std::scoped_lock lock(mutex_);
  rules_.clear();
}

std::string FaultServer::url(std::string_view path, std::string_view host) const {
  return fmt::format("{}://{}:{}{}", identity_ ? "https" : "http", host, port_, path);
}

std::vector<ReceivedRequest> FaultServer::log() const {
  const std::scoped_lock lock(mutex_);
  return log_;
}

std::vector<std::string> FaultServer::lines() const {
  std::vector<std::string> result;
  for (const ReceivedRequest& request : log()) {
    result.push_back(request.method + " " + request.target);
  }
  return result;
}

std::size_t FaultServer::connections() const {
  const std::scoped_lock lock(mutex_);
  return connections_.size();
}

}  // namespace modlock::test
