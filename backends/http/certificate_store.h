#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace modlock {

// Certificates that TLS connections trust as authorities, each read once for all of them: OpenSSL takes some
// milliseconds for ten, and a system trusts hundreds. Adding is for one thread, trusting for any number.
class CertificateStore {
 public:
  // `more` is called once, by the first connection that looks for an authority that is not here, to add others.
  explicit CertificateStore(std::function<void(CertificateStore&)> more = {});
  ~CertificateStore();
  CertificateStore(const CertificateStore&) = delete;
  CertificateStore& operator=(const CertificateStore&) = delete;

  // Adds every certificate among the PEM blocks of a text, and says how many it holds; other blocks, and what cannot
  // be read as a certificate, are passed over.
  std::size_t add(std::string_view pem);

  // Makes an SSL_CTX of OpenSSL trust these certificates, whether roots or not, and no others.
  void be_trusted_by(void* ssl_context) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::unordered_set<std::string> seen_;
};

}  // namespace modlock
