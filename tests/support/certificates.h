#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace modlock::test {

// Files in PEM.
struct ServerCertificate {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

// An authority made by openssl for one test. Its files lie in `directory`, which must outlive it.
class CertificateAuthority {
 public:
  explicit CertificateAuthority(std::filesystem::path directory);

  std::filesystem::path certificate() const { return directory_ / "authority.pem"; }

  // <name>.pem and <name>.key, for these subject alternative names ("DNS:localhost,IP:127.0.0.1"), valid for two days
  // from now, or already over.
  enum class Validity { current, expired };
  ServerCertificate issue(std::string_view name, std::string_view alternative_names = "DNS:localhost,IP:127.0.0.1",
                          Validity validity = Validity::current) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace modlock::test
