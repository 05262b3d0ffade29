#pragma once

#include <string>
#include <vector>

#include "plugin/cli/host.h"

namespace modlock::cli {

// One thing that was looked at.
struct Finding {
  std::string check = {};  // "git", "store", "host registry.example.com"
  enum class Verdict { fine, warning, error } verdict = Verdict::fine;
  std::string found = {};                 // never a credential, nor user-info of a URL
  std::string hint = {};                  // what to do; empty where it is fine
  std::vector<std::string> details = {};  // a line each
  int exit_code = 0;                      // of an error
};

// What holds whatever is asked: git, the client, certificates, proxies, settings with the file that each comes from,
// the store. `root` is where they are looked at.
std::vector<Finding> examine_machine(const CommonFlags& flags, const Host& host, const std::string& root);

// The hosts that the configuration in `root` takes modules and providers from, and those of `named`: where credentials
// for each come from, and `online` whether it answers; of a TLS connection that fails OpenSSL says which certificate.
std::vector<Finding> examine_hosts(const CommonFlags& flags, const Host& host, const std::string& root,
                                   const std::vector<std::string>& named, bool online);

}  // namespace modlock::cli
