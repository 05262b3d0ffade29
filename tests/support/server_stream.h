#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "tests/support/certificates.h"

namespace modlock::test {

// The server's side of TLS: one certificate, made ready once for many connections.
class TlsIdentity {
 public:
  // Throws std::runtime_error where the files are no certificate and key.
  explicit TlsIdentity(const ServerCertificate& certificate);
  ~TlsIdentity();

 private:
  friend class ServerStream;
  struct State;
  std::unique_ptr<State> state_;
};

// An accepted connection, plain or with TLS. Blocks the thread that uses it; shut_down() from another one ends that.
class ServerStream {
 public:
  // Owns the socket. `identity` may be null: no TLS.
  ServerStream(int socket, const TlsIdentity* identity);
  ~ServerStream();
  ServerStream(const ServerStream&) = delete;
  ServerStream& operator=(const ServerStream&) = delete;

  // The TLS handshake, where there is one. False where it fails.
  bool accept();
  // Appends the next bytes. False at the end of the stream or on an error.
  bool read(std::string& into);
  // False where the other side is gone.
  bool write(std::string_view bytes);
  // Waits, but not longer than the other side stays. False once it says or sends anything, or is gone.
  bool pause(std::chrono::milliseconds duration) const;
  // Reads until the other side goes.
  void wait_until_closed();
  // Breaks the connection off: the other side sees a reset, not an end. Nothing can be read or written any more.
  void reset();
  // Ends the connection as TLS and TCP want it.
  void finish();
  void shut_down() const;

 private:
  struct Tls;
  int socket_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace modlock::test
