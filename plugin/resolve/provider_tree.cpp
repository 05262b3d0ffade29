#include "plugin/resolve/provider_tree.h"

#include <fmt/format.h>

#include <set>

#include "plugin/value/client_kind.h"
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
      return fail(placed(std::move(constraint.error()), need.subject(), location));
    }
    all.push_back(*constraint);
    need.constraints.push_back({std::move(*constraint), text, use.module, location});
  }
  need.merged = ProviderConstraint::merge(all);
  return need;
}

// A module that the client version rejects may use syntax that this version does not know.
void suppress_secondary_errors(const Diagnostics& found, const ModuleTree& tree, Diagnostics& diagnostics) {
  std::set<std::filesystem::path> refusing;
  for (const Diagnostic& one : found) {
    if (one.severity == Severity::error && one.what.code == Code::constraint_conflict && one.what.location) {
      refusing.insert(std::filesystem::path(one.what.location->path).parent_path());
    }
  }
  if (refusing.empty()) {
    return;
  }
  std::set<std::string_view> files;
  for (const TreeFile& file : tree.files) {
    if (refusing.count(std::filesystem::path(file.path).parent_path()) != 0) {
      files.insert(file.path);
    }
  }
  std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) {
    return diagnostic.what.location && files.count(diagnostic.what.location->path) != 0;
  });
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

void check_core_versions(const ModuleTree& tree, ClientKind tool, const std::string& version, bool is_known,
                         Diagnostics& diagnostics) {
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
      if (!is_known) {
        diagnostic.severity = Severity::warning;
        diagnostic.what.hint = "specify the client version with --implementation-version";
      }
      if (!module.key.empty()) {
        diagnostic.what.subject = module.subject();
        diagnostic.what.related.push_back({"the module is called here", module.call});
      }
      found.push_back(std::move(diagnostic));
    }
  }
  suppress_secondary_errors(found, tree, diagnostics);
  append(diagnostics, std::move(found));
}

Diagnostics check_client_rules(const ModuleTree& tree, ClientKind tool, const std::string& version) {
  const std::string_view client = display_name(tool);
  const auto release = Version::parse(version.substr(0, version.find_first_of("-+"))).value_or(Version{});
  Diagnostics found;
  const auto use = [&](const ClientRule& rule, std::string subject, Location location) {
    const std::string_view since = rule.since(tool);
    if (!since.empty() && release >= *Version::parse(since)) {
      return;
    }
    found.push_back(
        as_warning({.code = Code::constraint_conflict,
                    .message = since.empty() ? fmt::format("{} does not support {}", client, rule.subject)
                                             : fmt::format("{} supports {} from version {}, and this is version {}",
                                                           client, rule.subject, since, version),
                    .subject = std::move(subject),
                    .location = std::move(location),
                    .hint = fmt::format("use a newer version of {}, or change the configuration", client)}));
  };
  for (const auto& [key, node] : tree.nodes) {
    const ModuleCallSyntax& call = *node.call.written;
    if (!node.call.is_static) {
      use(kComputedSource, node.subject(), node.call.source.location);
    }
    if (call.find("version").attribute != nullptr && !node.call.version) {
      use(kNullVersion, node.subject(), node.call.location);
    }
    for (const std::string& name : called_functions(call)) {
      if (name == "convert" || name.starts_with("assume")) {
        use(name == "convert" ? kConvert : kAssume, node.subject(), node.call.source.location);
      }
    }
  }
  for (const TreeModule& module : tree.modules) {
    for (const ProviderRequirement& requirement : module.parsed->providers) {
      const std::string subject = "provider." + requirement.address.to_string();
      if (requirement.origin == ProviderRequirement::DeclaredBy::action) {
        use(kAction, subject, below(module, requirement.location));
      }
      if (requirement.address.name_space().find('_') != std::string::npos) {
        use(kNamespaceUnderscore, subject, below(module, requirement.location));
      }
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
