#include "plugin/resolve/provider_tree.h"

#include <set>

namespace modlock {
namespace {

Location below(const TreeModule& module, const Location& location) {
  return {join_relative(module.directory, location.path), location.range};
}

}  // namespace

std::map<ProviderAddress, std::vector<RequiredBy>> required_providers(const ModuleTree& tree, bool with_tests) {
  std::map<ProviderAddress, std::vector<RequiredBy>> providers;
  for (const TreeModule& module : tree.modules) {
    if (module.of_tests && !with_tests) {
      continue;
    }
    std::set<ProviderAddress> seen;
    for (const ProviderRequirement& written : module.parsed->providers) {
      if (!seen.insert(written.address).second && !written.constraint) {
        continue;
      }
      RequiredBy use{module.key, written};
      use.requirement.location = below(module, written.location);
      if (use.requirement.constraint) {
        use.requirement.constraint->location = below(module, written.constraint->location);
      }
      providers[written.address].push_back(std::move(use));
    }
  }
  return providers;
}

Diagnostics check_core_versions(const ModuleTree& tree, ClientKind tool, const std::string& version) {
  Diagnostics found;
  std::set<const ParsedModule*> checked;
  for (const TreeModule& module : tree.modules) {
    if (module.parsed->core.empty() || !checked.insert(module.parsed.get()).second) {
      continue;
    }
    for (Diagnostic& diagnostic : check_core_requirements(module.parsed->core, tool, version)) {
      if (diagnostic.what.location) {
        diagnostic.what.location = below(module, *diagnostic.what.location);
      }
      if (!module.key.empty()) {
        diagnostic.what.subject = module.subject();
        diagnostic.what.related.push_back({"the module is called here", module.call});
      }
      found.push_back(std::move(diagnostic));
    }
  }
  return found;
}

}  // namespace modlock
