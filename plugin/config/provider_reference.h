#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plugin/config/config_files.h"

namespace modlock {

// `aws.west["eu"]` where a provider configuration is named.
struct ProviderReference {
  std::string name;        // the local name
  std::string alias = {};  // empty: the default configuration
  Range name_range = {};
  std::optional<Range> key = {};  // of the instance key

  // "aws.west"
  std::string to_string() const { return alias.empty() ? name : name + "." + alias; }
};

// Reads the `provider` argument of a resource, or one side of an item of `providers` (`argument` names which). In JSON
// syntax the reference stands in a string; quotes in native syntax are reported as deprecated. nullopt: what is wrong
// was reported.
std::optional<ProviderReference> read_provider_reference(const hcl::Expression& expression, std::string_view argument,
                                                         const ConfigText& file, Diagnostics& diagnostics);

// Whether a local name is one, written in its normal form; else that is reported at `range`.
bool check_local_name(std::string_view name, const ConfigText& file, const Range& range, Diagnostics& diagnostics);

}  // namespace modlock
