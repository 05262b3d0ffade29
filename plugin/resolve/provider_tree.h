#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/config/state_providers.h"
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

}  // namespace modlock
