#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/config/state_providers.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// A reason why the tree needs a provider, and the module that has it ("" is the root, or its state).
struct RequiredBy {
  std::string module;
  ProviderRequirement requirement;  // locations relative to the root
};

// Returns every provider that the modules of a tree need, by address, with its uses in the order of the tree. Further
// uses in the same module are omitted if they add no constraint. Without `with_tests`, those of test files are omitted,
// too.
std::map<ProviderAddress, std::vector<RequiredBy>> required_providers(const ModuleTree& tree, bool with_tests = true);

// Adds what `version` of `tool` rejects in the modules of a tree: see check_core_requirements(). Each diagnostic has
// its module as subject and a location in its file; `related` contains the location of the call. Removes other errors
// in the files of these modules, as OpenTofu does from 1.12 on. If the version is not known, a module that excludes it
// is a warning, which hides nothing.
void check_core_versions(const ModuleTree& tree, ClientKind tool, const std::string& version, bool is_known,
                         Diagnostics& diagnostics);

// Returns a warning for each use of a rule that this version of the client does not have (ClientRule), and that
// affects a module call or a provider: functions are found in the source and version of calls, not in the values that
// these refer to.
Diagnostics check_client_rules(const ModuleTree& tree, ClientKind tool, const std::string& version);

// A version constraint on a provider and its author.
struct ProviderConstraintUse {
  ProviderConstraint constraint;
  std::string text;    // as written
  std::string module;  // key; "" is the root
  Location location;   // of the text

  // Returns "module \"vpc\" requires \"~> 1.2\"" or "the root module requires \"~> 1.2\"".
  std::string sentence() const;
};

// A provider that has to be locked.
struct ProviderNeed {
  ProviderAddress address;
  std::vector<ProviderConstraintUse> constraints = {};  // in the order of the tree
  ProviderConstraint merged = {};                       // all of them
  std::string module = {};                              // the first module that needs it
  Location location = {};                               // of that use; empty for the state

  // Returns "the root module needs it", "module \"vpc\" needs it" or "the state needs it".
  std::string who_needs_it() const;
  std::string subject() const { return "provider." + address.to_string(); }
};

// The command whose needs are found: `init` includes the state and the test files of the root, `providers lock` does
// not.
enum class NeedsOf { init, providers_lock };

// Returns the needed providers, sorted by address, without those that are built into the client. `state` applies to
// NeedsOf::init. Errors: CONSTRAINT_SYNTAX at a constraint that cannot be read.
Result<std::vector<ProviderNeed>> find_needs(const ModuleTree& tree, const StateProviders& state, NeedsOf needs_of,
                                             std::string_view default_host);

}  // namespace modlock
