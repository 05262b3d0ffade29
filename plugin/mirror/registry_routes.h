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

// What the mirror says to which path: the module registry protocol ("modules.v1") for each host that has modules, under
// `prefix`, which nobody else knows.
//
//   <prefix>/<host>/.well-known/terraform.json
//   <prefix>/<host>/v1/<namespace>/<name>/<system>/versions             the locked version, and no other
//   <prefix>/<host>/v1/<namespace>/<name>/<system>/<version>/download
//   <prefix>/packages/<number>.tar.gz
class RegistryRoutes {
 public:
  // `prefix` starts with "/" and does not end in one.
  RegistryRoutes(std::vector<MirroredModule> modules, std::string prefix);

  // The answer to GET of a path without query; 404 for everything else. Thread-safe.
  MirrorResponse answer(std::string_view path) const;

  // The path of a host's "modules.v1", with a slash at the end.
  std::string modules_path(std::string_view host) const;
  // The hosts, each once.
  std::vector<std::string> hosts() const;

 private:
  MirrorResponse answer_of_host(std::string_view host, std::string_view rest) const;
  std::string package_path(std::size_t index) const;

  std::vector<MirroredModule> modules_;
  std::string prefix_;
  std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> hosts_;  // host, name -> index
};

}  // namespace modlock
