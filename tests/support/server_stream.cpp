#include "tests/support/server_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace modlock::test {

struct TlsIdentity::State {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
};

struct ServerStream::Tls {
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, SSL_free};
};

TlsIdentity::TlsIdentity(const ServerCertificate& certificate) : state_(std::make_unique<State>()) {
  SSL_CTX* const context = state_->context.get();
  if (SSL_CTX_use_certificate_chain_file(context, certificate.certificate.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, certificate.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw std::runtime_error("no certificate and key in " + certificate.certificate.string());
  }
}

TlsIdentity::~TlsIdentity() = default;

ServerStream::ServerStream(int socket, const TlsIdentity* identity) : socket_(socket), tls_(std::make_unique<Tls>()) {
  // What is written is sent: else an answer waits until the tickets of TLS before it are acknowledged.
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (identity != nullptr) {
    tls_->ssl.reset(SSL_new(identity->state_->context.get()));
    SSL_set_fd(tls_->ssl.get(), socket_);
  }
}

ServerStream::~ServerStream() {
  ::close(socket_);
}

bool ServerStream::accept() {
  return !tls_->ssl || SSL_accept(tls_->ssl.get()) == 1;
}

bool ServerStream::read(std::string& into) {
  char piece[16'384];
  const auto got = tls_->ssl ? SSL_read(tls_->ssl.get(), piece, sizeof(piece))
                             : static_cast<int>(::recv(socket_, piece, sizeof(piece), 0));
  if (got <= 0) {
    return false;
  }
  into.append(piece, static_cast<std::size_t>(got));
  return true;
}

bool ServerStream::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), std::size_t{1} << 20U);
    const auto put = tls_->ssl ? SSL_write(tls_->ssl.get(), bytes.data(), static_cast<int>(size))
                               : static_cast<int>(::send(socket_, bytes.data(), size, MSG_NOSIGNAL));
    if (put <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool ServerStream::pause(std::chrono::milliseconds duration) const {
  pollfd waited{.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, static_cast<int>(duration.count())) == 0;
}

void ServerStream::wait_until_closed() {
  for (std::string dropped; read(dropped);) {
    dropped.clear();
  }
}

void ServerStream::reset() {
  tls_->ssl.reset();
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  ::connect(socket_, &nobody, sizeof(nobody));
}

void ServerStream::finish() {
  if (tls_->ssl && SSL_is_init_finished(tls_->ssl.get()) != 0) {
    SSL_shutdown(tls_->ssl.get());
  }
  shut_down();
}

void ServerStream::shut_down() const {
  ::shutdown(socket_, SHUT_RDWR);
}

}  // namespace modlock::test
