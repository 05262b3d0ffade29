#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/config/state_providers.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// One reason for which the tree needs a provider, and the module that has it ("" is the root, or its state).
struct RequiredBy {
  std::string module;
  ProviderRequirement requirement;  // locations relative to the root
};

// Every provider that the modules of a tree need, by address, with its uses in the order of the tree. Uses beyond the
// first of one module that add no constraint are left out; without `with_tests` also those of test files.
std::map<ProviderAddress, std::vector<RequiredBy>> required_providers(const ModuleTree& tree, bool with_tests = true);

// What `version` of `tool` refuses in the modules of a tree: see check_core_requirements(). Each diagnostic names its
// module as subject and is located in its file; `related` says where the module is called.
Diagnostics check_core_versions(const ModuleTree& tree, ClientKind tool, const std::string& version);

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
