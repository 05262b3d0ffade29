#include "plugin/resolve/provider_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "protocol/base/result.h"

namespace modlock {
namespace {

Location below(const TreeModule& module, const Location& location) {
  return {join_relative(module.directory, location.path), location.range};
}

Result<ProviderNeed> make_need(const ProviderAddress& address, const std::vector<RequiredBy>& uses) {
  ProviderNeed need{.address = address, .module = uses.front().module, .location = uses.front().requirement.location};
  std::vector<ProviderConstraint> all;
  for (const RequiredBy& use : uses) {
    if (!use.requirement.constraint) {
      continue;
    }
    const auto& [text, location] = *use.requirement.constraint;
    auto constraint = ProviderConstraint::parse(text);
    if (!constraint) {
      Error error = std::move(constraint.error());
      error.subject = need.subject();
      error.location = location;
      return fail(std::move(error));
    }
    all.push_back(*constraint);
    need.constraints.push_back({std::move(*constraint), text, use.module, location});
  }
  need.merged = ProviderConstraint::merge(all);
  return need;
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

std::string ProviderNeed::who_needs_it() const {
  if (location.path.empty()) {
    return "the state needs it";
  }
  return module.empty() ? "the root module needs it" : fmt::format("module \"{}\" needs it", module);
}

std::string ProviderConstraintUse::sentence() const {
  return module.empty() ? fmt::format("the root module requires \"{}\"", text)
                        : fmt::format("module \"{}\" requires \"{}\"", module, text);
}

Result<std::vector<ProviderNeed>> find_needs(const ModuleTree& tree, const StateProviders& state, NeedsOf needs_of,
                                             std::string_view default_host) {
  auto required = required_providers(tree, needs_of == NeedsOf::init);
  if (needs_of == NeedsOf::init) {
    for (const ProviderRequirement& requirement : state.providers) {
      std::vector<RequiredBy>& uses = required[requirement.address];
      if (uses.empty()) {
        uses.push_back({"", requirement});
      }
    }
  }
  std::vector<ProviderNeed> needs;
  for (const auto& [address, uses] : required) {
    if (address.is_builtin(default_host)) {
      continue;
    }
    MODLOCK_TRY(auto need, make_need(address, uses));
    needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace modlock
