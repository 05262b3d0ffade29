#pragma once

#include <string>
#include <vector>

#include "plugin/config/state_providers.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/resolve/provider_tree.h"

namespace modlock {

// A version constraint on a provider and who wrote it.
struct ProviderConstraintUse {
  ProviderConstraint constraint;
  std::string text;    // as written
  std::string module;  // key; "" is the root
  Location location;   // of the text

  // "module \"vpc\" requires \"~> 1.2\"", "the root module requires \"~> 1.2\""
  std::string sentence() const;
};

// A provider that has to be locked.
struct ProviderNeed {
  ProviderAddress address;
  std::vector<ProviderConstraintUse> constraints = {};  // in the order of the tree
  ProviderConstraint merged = {};                       // all of them
  std::string module = {};                              // the first that needs it
  Location location = {};                               // where; of the state: nothing

  // "the root module needs it", "module \"vpc\" needs it", "the state needs it"
  std::string who_needs_it() const;
  std::string subject() const { return "provider." + address.to_string(); }
};

// Who is asked what is needed: `init` looks at the state and at the test files of the root, `providers lock` does not.
enum class NeedsOf { init, providers_lock };

// The providers that are needed, sorted by address, without those that are built into the client. `state` counts for
// NeedsOf::init. Errors: CONSTRAINT_SYNTAX at a constraint that cannot be read.
Result<std::vector<ProviderNeed>> find_needs(const ModuleTree& tree, const StateProviders& state, NeedsOf needs_of,
                                             std::string_view default_host);

}  // namespace modlock
