#include "tests/support/certificates.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backends/base/process.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

std::vector<std::string> with_new_key(std::vector<std::string> arguments) {
  for (const char* argument : {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"}) {
    arguments.emplace_back(argument);
  }
  return arguments;
}

std::vector<std::string> dates_of(CertificateAuthority::Validity validity) {
  if (validity != CertificateAuthority::Validity::expired) {
    return {"-days", "2"};
  }
  // OpenSSL 3.4 refuses an end before the start, and has these flags for it.
  return run({"sh", "-c", "openssl x509 -help 2>&1"}).find("-not_after") == std::string::npos
             ? std::vector<std::string>{"-days", "-1"}
             : std::vector<std::string>{"-not_before", "20200101000000Z", "-not_after", "20200102000000Z"};
}

}  // namespace

// With the extensions that Python 3.13 and others demand (RFC 5280, sections 4.2.1.1 and 4.2.1.3).
CertificateAuthority::CertificateAuthority(std::filesystem::path directory) : directory_(std::move(directory)) {
  run(with_new_key({"openssl", "req", "-x509", "-days", "2", "-subj", "/CN=Test authority", "-addext",
                    "keyUsage=critical,keyCertSign,cRLSign", "-keyout", (directory_ / "authority.key").string(), "-out",
                    certificate().string()}));
}

ServerCertificate CertificateAuthority::issue(std::string_view name, std::string_view alternative_names,
                                              Validity validity) const {
  const auto path = [&](std::string_view extension) {
    return (directory_ / fmt::format("{}.{}", name, extension)).string();
  };
  run(with_new_key(
      {"openssl", "req", "-subj", fmt::format("/CN={}", name), "-keyout", path("key"), "-out", path("csr")}));
  write_text(path("names"), fmt::format("subjectAltName={}\nauthorityKeyIdentifier=keyid\n", alternative_names));
  std::vector<std::string> sign = {"openssl",
                                   "x509",
                                   "-req",
                                   "-in",
                                   path("csr"),
                                   "-CA",
                                   certificate().string(),
                                   "-CAkey",
                                   (directory_ / "authority.key").string(),
                                   "-CAcreateserial",
                                   "-extfile",
                                   path("names"),
                                   "-out",
                                   path("pem")};
  const std::vector<std::string> dates = dates_of(validity);
  sign.insert(sign.end(), dates.begin(), dates.end());
  run(std::move(sign));
  return {path("pem"), path("key")};
}

}  // namespace modlock::test
