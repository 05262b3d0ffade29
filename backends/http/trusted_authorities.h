#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/http/certificate_store.h"
#include "protocol/base/result.h"

namespace modlock::http {

// Where the certificates of trusted authorities are read from, as Go's crypto/x509 does on Linux, and so OpenTofu:
// one file and all files of some directories.
struct AuthorityPlaces {
  std::filesystem::path file;                      // SSL_CERT_FILE, else the first that exists of the usual ones
  bool is_file_required = false;                   // SSL_CERT_FILE names it
  std::vector<std::filesystem::path> directories;  // SSL_CERT_DIR, separated by ":", else the usual ones

  static AuthorityPlaces from_environment();
};

// The directories are read by the first connection that needs an authority that the file does not have: they hold
// hundreds, which takes longer than most requests. Links there to a file beside them are passed over, as in Go. Errors:
// UNREACHABLE where SSL_CERT_FILE names a file that cannot be read or holds no certificate. What cannot be read
// of the rest is passed over.
Result<std::unique_ptr<const CertificateStore>> read_authorities(const AuthorityPlaces& places);

}  // namespace modlock::http
