#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/http/certificate_store.h"
#include "protocol/base/result.h"

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

}  // namespace modlock::http
