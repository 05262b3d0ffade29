#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/oci_module.h"
#include "tests/support/process_group.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

class TokenService;

// Debian's docker-registry over https on a free port of the loopback, with a storage of its own. Stopped when the
// object goes.
class DockerRegistry {
 public:
  enum class Auth {
    none,
    basic,  // htpasswd
    token   // of a TokenService, where the anonymous may pull from "public/…"
  };

  static constexpr const char* kPrograms = "docker-registry, openssl, htpasswd";

  // Throws std::runtime_error with the registry's output where it does not start.
  explicit DockerRegistry(Auth auth = Auth::none);
  ~DockerRegistry();
  DockerRegistry(const DockerRegistry&) = delete;
  DockerRegistry& operator=(const DockerRegistry&) = delete;

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string source(const std::string& repository) const { return "oci://" + host() + "/" + repository; }
  std::filesystem::path authority() const { return authority_.certificate(); }
  static std::string user() { return "reader"; }
  static std::string password() { return "p@ss/w:rd%41"; }
  static std::string refresh_token() { return "refresh-me"; }

  // Puts a module package under a tag; the digest of its manifest. Throws std::runtime_error where it is refused.
  std::string push(const std::string& repository, const std::string& tag, const PackageFiles& files);
  // Puts a manifest whose blobs are there; its digest.
  std::string push_manifest(const std::string& repository, const std::string& tag, const std::string& body,
                            const std::string& type = kOciManifestType);
  void push_blob(const std::string& repository, const std::string& bytes);

  // What the token service was asked: TokenService::log().
  std::vector<std::string> token_log() const;

 private:
  void write_configuration() const;
  std::string authorization(const std::string& repository) const;

  TemporaryDirectory directory_;
  CertificateAuthority authority_;
  ServerCertificate certificate_;
  Auth auth_;
  int port_ = 0;
  std::unique_ptr<TokenService> tokens_;
  std::optional<ProcessGroup> program_;
};

}  // namespace modlock::test
