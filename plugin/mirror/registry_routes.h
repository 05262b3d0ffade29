#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/mirror/mirrored_modules.h"

namespace modlock {

struct MirrorResponse {
  int status = 404;
  std::string body = {};
  std::string type = "application/json";
  std::string location = {};                // X-Terraform-Get
  const MirroredModule* package = nullptr;  // its archive is the body
};

// The responses of the mirror by path: the module registry protocol ("modules.v1") for each host that has modules,
// below the secret `prefix`.
//
//   <prefix>/<host>/.well-known/terraform.json
//   <prefix>/<host>/v1/<namespace>/<name>/<system>/versions             only the locked version
//   <prefix>/<host>/v1/<namespace>/<name>/<system>/<version>/download
//   <prefix>/packages/<number>.tar.gz
class RegistryRoutes {
 public:
  // `prefix` starts with "/" and does not end in one.
  RegistryRoutes(std::vector<MirroredModule> modules, std::string prefix);

  // Returns the response to GET of a path without query; 404 for everything else. Thread-safe.
  MirrorResponse answer(std::string_view path) const;

  // Returns the path of a host's "modules.v1", with a trailing slash.
  std::string modules_path(std::string_view host) const;
  // Returns the hosts, each once.
  std::vector<std::string> hosts() const;

 private:
  MirrorResponse answer_of_host(std::string_view host, std::string_view rest) const;
  std::string package_path(std::size_t index) const;

  std::vector<MirroredModule> modules_;
  std::string prefix_;
  std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> hosts_;  // host, name -> index
};

}  // namespace modlock
