#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace modlock {

// Certificates that TLS connections trust as authorities. Each is read only once for all connections: OpenSSL takes
// some milliseconds for ten, and a system trusts hundreds. One thread may add certificates; any number may call
// be_trusted_by().
class CertificateStore {
 public:
  // `more` adds further authorities. The first connection that needs an authority that is missing here calls it, once.
  explicit CertificateStore(std::function<void(CertificateStore&)> more = {});
  ~CertificateStore();
  CertificateStore(const CertificateStore&) = delete;
  CertificateStore& operator=(const CertificateStore&) = delete;

  // Adds every certificate in the PEM blocks of a text, and returns how many there are. Other blocks and unreadable
  // certificates are skipped.
  std::size_t add(std::string_view pem);

  // Makes an SSL_CTX of OpenSSL trust only these certificates, whether they are roots or not.
  void be_trusted_by(void* ssl_context) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::unordered_set<std::string> seen_;
};

}  // namespace modlock
