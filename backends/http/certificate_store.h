#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

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

namespace modlock::http {

// The places of trusted certificate authorities: one file and all files of some directories, as in Go's crypto/x509 on
// Linux and therefore in OpenTofu.
struct AuthorityPlaces {
  std::filesystem::path file;                      // SSL_CERT_FILE, else the first existing one of the usual files
  bool is_file_required = false;                   // SSL_CERT_FILE names it
  std::vector<std::filesystem::path> directories;  // SSL_CERT_DIR, separated by ":", else the usual directories

  static AuthorityPlaces from_environment();
};

// Reads the file now. The first connection that needs an authority that is not in it reads the directories, because
// reading their hundreds of files takes longer than most requests. Links there to a file in the same directory are
// skipped, as in Go. Errors: UNREACHABLE if SSL_CERT_FILE names a file that cannot be read or contains no certificate.
// Other unreadable files are skipped.
Result<std::unique_ptr<const CertificateStore>> read_authorities(const AuthorityPlaces& places);

// Returns the verdict of the program openssl on the first certificate of a host (HOST or HOST:PORT) that it does not
// accept: "OpenSSL of depth=1 CN = Example CA: self-signed certificate in certificate chain". Empty if it accepts all,
// if it cannot be run, and behind a proxy.
std::string certificate_verdict(const std::string& name, const Context& context);

}  // namespace modlock::http
