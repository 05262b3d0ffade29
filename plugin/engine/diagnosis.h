#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/root_params.h"

namespace modlock {

struct DiagnoseOptions {
  messages::RootParams root;             // its settings and client are examined
  std::vector<std::string> hosts = {};   // in addition to those of the configuration
  bool online = false;                   // also send requests to the hosts
  std::string cache_origin = "default";  // the source of the cache directory setting, for the report
};

// The result of one check.
struct Finding {
  std::string check = {};  // "git", "cache", "host registry.example.com"
  enum class Verdict { fine, warning, error } verdict = Verdict::fine;
  std::string found = {};                 // never a credential or the user-info of a URL
  std::string hint = {};                  // what to do; empty if there is no problem
  std::vector<std::string> details = {};  // one line each
  int exit_code = 0;                      // of an error
  bool operator==(const Finding&) const = default;
};

constexpr std::array<std::string_view, 3> names_of(const Finding::Verdict*) {
  return {"ok", "warning", "error"};
}
template <typename Form>
void fields(Form& form, In<Form, Finding> finding) {
  form.member("check", finding.check);
  form.member("verdict", finding.verdict);
  form.member("found", finding.found);
  form.optional("hint", finding.hint);
  form.member("details", finding.details);
}

// Returns the finding of a check that failed.
Finding failing(std::string check, const Error& error);

class Engine;
class Run;

// The parts of Engine::diagnose().
//
// Checks git, the client, certificates, proxies, settings with the file that each comes from, and the store.
std::vector<Finding> examine_machine(const Engine& engine, const DiagnoseOptions& options, const Run& run);
// Reports errors of the configuration. Checks the hosts of its modules and providers, and those of the options: where
// credentials for each come from, and with `online` whether it lists the versions of the modules and providers, one
// request each, with the credentials that `lock` would use. Sources that the settings deny are errors, without a
// request. If a TLS connection fails, the openssl program reports which certificate is not accepted.
std::vector<Finding> examine_hosts(const Engine& engine, const DiagnoseOptions& options, Run& run);

}  // namespace modlock
