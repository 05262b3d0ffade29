#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/certificates.h"

namespace modlock::test {

// A module registry on a free port of the loopback, that also serves any other path it is told to: archives, faults.
// Thread-safe; ends with the object. Over http it is reached through a `host` block of a client's configuration, over
// https by its own name, "127.0.0.1:PORT".
class ModuleRegistry {
 public:
  struct Answer {
    int status = 200;
    std::string body = {};
    std::string type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
  };
  struct Request {
    std::string method;
    std::string target;  // path and query
    std::multimap<std::string, std::string> headers;

    // Empty where there is none; the last of several.
    std::string header(const std::string& name) const;
  };

  ModuleRegistry();
  // Over https.
  explicit ModuleRegistry(const ServerCertificate& certificate);
  ~ModuleRegistry();
  ModuleRegistry(const ModuleRegistry&) = delete;
  ModuleRegistry& operator=(const ModuleRegistry&) = delete;

  std::string authority() const;  // "127.0.0.1:PORT"
  std::string url() const;        // "http://127.0.0.1:PORT", without a slash at the end
  // The base URL of the service, "…/v1/modules/".
  std::string modules_url() const { return url() + "/v1/modules/"; }
  // The `host` block that leads a client here under another name.
  std::string host_block(const std::string& name) const;

  // A version of "namespace/name/system", listed behind those that were added before, and the answer to its download.
  void add_version(const std::string& module, const std::string& version, Answer download);
  // The forms that such an answer can have.
  static Answer by_header(const std::string& location);
  static Answer by_body(const std::string& location);
  static Answer directly(const std::string& location, bool use_registry_credentials);

  // What a path gives from now on, in place of anything it gave before.
  void serve(const std::string& path, Answer answer);
  // What a path gives the next `times` it is asked, before it gives what it gives else.
  void fault(const std::string& path, Answer answer, int times = 1);
  // Whatever starts with `prefix` is 401 without `Authorization: Bearer <token>`.
  void require_token(const std::string& prefix, const std::string& token);

  // Everything that was asked, in order.
  std::vector<Request> requests() const;
  // "GET /v1/modules/a/b/c/versions", in order.
  std::vector<std::string> lines() const;
  void forget_requests();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace modlock::test
