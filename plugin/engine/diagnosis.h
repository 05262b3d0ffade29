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

}  // namespace modlock
