#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/resolve/plan.h"

namespace modlock {

// Returns the rules of the settings that demand a signature of a source: all with a glob that matches, of all files. A
// nearer file cannot replace what another one demands.
std::vector<const SourceRule*> signature_rules(const Settings& settings, const Source& source);

// Verifies the signatures of the releases of one run, each only once. Use from one thread.
class SignatureCheck {
 public:
  SignatureCheck(const Settings& settings, SourceFetcher& fetcher, const Context& context)
      : settings_(settings), fetcher_(fetcher), context_(context) {}

  // Verifies the commit `id` of a call with the version. Returns a signer for each rule, for people. Warns
  // (SETTING_UNSERVED) if a key file of the checkout differs from that of the last verification. Errors:
  // SIGNATURE_INVALID, with the rule as location; CONFIG_PARSE or IO_ERROR (a key file is missing or cannot be read);
  // those of Backend.
  Result<std::vector<std::string>> verify(const ModuleNode& node, const std::optional<std::string>& version,
                                          const std::string& id);
  const Diagnostics& warnings() const { return warnings_; }

 private:
  Result<std::string> find_reference(const ModuleNode& node, const std::optional<std::string>& version);
  Result<std::string> verify_rule(const SourceRule& rule, const ModuleNode& node, const FetchRequest& request);
  void note_keys(const SourceRule& rule, const ModuleNode& node, const std::string& keys);

  const Settings& settings_;
  SourceFetcher& fetcher_;
  const Context& context_;
  std::map<std::string, Result<std::string>> verified_;  // by rule, package, reference and id
  Diagnostics warnings_;
};

}  // namespace modlock
