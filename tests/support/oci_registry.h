#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/oci_module.h"

namespace modlock::test {

// An OCI registry of ours over https on a free port of the loopback, for what a real one does not do: pages, faults,
// digests and media types that lie, several challenges. Stopped when the object goes.
class OciRegistry {
 public:
  struct Answer {
    int status = 200;
    std::string body = {};
    std::string type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
  };

  // Throws std::runtime_error where it does not start.
  explicit OciRegistry(const ServerCertificate& certificate);
  ~OciRegistry();
  OciRegistry(const OciRegistry&) = delete;
  OciRegistry& operator=(const OciRegistry&) = delete;

  std::string host() const;                                 // "127.0.0.1:PORT"
  std::string source(const std::string& repository) const;  // "oci://127.0.0.1:PORT/<repository>"

  // Puts a module package under a tag; the digest of its manifest.
  std::string push(const std::string& repository, const std::string& tag, const PackageFiles& files);
  // Anything under a tag and its digest; the digest.
  std::string put_manifest(const std::string& repository, const std::string& tag, const std::string& body,
                           const std::string& type = kOciManifestType);
  void put_blob(const std::string& repository, const std::string& digest, const std::string& bytes);

  // Lists tags in pages of so many, each with a Link to the next: relative, or absolute.
  void page_tags(std::size_t size, bool absolute_links = false);
  // Whatever is below /v2/ asks for a token of /token, which is given for these credentials (none: to everybody), for
  // one repository, and is refused after `uses`.
  void require_token(const std::string& user = {}, const std::string& password = {}, int uses = 1'000'000);
  // Whatever is below /v2/ asks for Basic authorization.
  void require_basic(const std::string& user, const std::string& password);

  // What a path gives the next `times` it is asked, before it gives what it gives else.
  void fault(const std::string& path, Answer answer, int times = 1);
  // "GET /v2/team/vpc/manifests/v1", in order.
  std::vector<std::string> lines() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace modlock::test
