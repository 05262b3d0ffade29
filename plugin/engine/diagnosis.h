#pragma once

#include <string>
#include <vector>

#include "protocol/messages/root_params.h"

namespace modlock {

struct DiagnoseOptions {
  messages::RootParams root;             // where settings and the client are examined
  std::vector<std::string> hosts = {};   // in addition to those of the configuration
  bool online = false;                   // also send requests to the hosts
  std::string cache_origin = "default";  // what named the cache directory, for the report
};

// What was found by one check.
struct Finding {
  std::string check = {};  // "git", "store", "host registry.example.com"
  enum class Verdict { fine, warning, error } verdict = Verdict::fine;
  std::string found = {};                 // never a credential, nor user-info of a URL
  std::string hint = {};                  // what to do; empty if it is fine
  std::vector<std::string> details = {};  // a line each
  int exit_code = 0;                      // of an error
};

class Engine;
class Run;

// The parts of Engine::diagnose().
//
// git, the client, certificates, proxies, settings with the file that each comes from, the store.
std::vector<Finding> examine_machine(const Engine& engine, const DiagnoseOptions& options, const Run& run);
// The hosts that the configuration takes modules and providers from, and those of the options: where credentials for
// each come from, and online whether it responds. For a TLS connection that fails, the openssl program reports which
// certificate is not accepted.
std::vector<Finding> examine_hosts(const Engine& engine, const DiagnoseOptions& options, Run& run);

}  // namespace modlock
