#include "plugin/resolve/provider_passing.h"

#include <fmt/format.h>

#include <memory>
#include <set>

namespace modlock {
namespace {

std::string with_alias(const std::string& name, const std::string& alias) {
  return alias.empty() ? name : name + "." + alias;
}

// The providers of one module, by "aws" or "aws.west".
struct ModuleProviders {
  std::map<std::string, ProviderAddress> required;  // by local name
  std::map<std::string, ProviderAddress> aliases;   // of configuration_aliases
  std::set<std::string> configured;
  std::set<std::string> empty;  // provider blocks that configure nothing
  std::set<std::string> repeated;
  const std::vector<ProviderUse>& uses;

  explicit ModuleProviders(const ProviderDeclarations& written) : uses(written.uses) {
    for (const auto& [name, entry] : written.required) {
      required.emplace(name, entry.address);
      for (const std::string& alias : entry.aliases) {
        aliases.emplace(with_alias(name, alias), entry.address);
      }
    }
    for (const ProviderBlock& block : written.blocks) {
      const std::string name = with_alias(block.name, block.alias);
      (block.is_configured ? configured : empty).insert(name);
      if (block.is_repeated) {
        repeated.insert(name);
      }
    }
  }
};

// One item of `providers`.
struct Passed {
  ProviderReference child;
  ProviderReference parent;
  const ConfigText* file = nullptr;
};

std::vector<Passed> read_passed(const ModuleCallSyntax& call) {
  std::vector<Passed> result;
  const Argument argument = call.find("providers");
  const auto* object =
      argument.attribute != nullptr ? std::get_if<hcl::Object>(&argument.attribute->value.node) : nullptr;
  if (object == nullptr) {
    return result;
  }
  Diagnostics known;
  for (const hcl::ObjectItem& item : object->items) {
    auto child = read_provider_reference(item.key, "providers", *argument.file, known);
    auto parent = read_provider_reference(item.value, "providers", *argument.file, known);
    if (child && parent) {
      result.push_back({std::move(*child), std::move(*parent), argument.file});
    }
  }
  return result;
}

// What precludes provider configurations in a called module.
std::optional<Location> find_repetition(const ModuleCallSyntax& call, ClientKind tool) {
  const auto location = [](const Argument& argument) {
    return Location{argument.file->path, argument.attribute->value.range};
  };
  for (const std::string_view name : {"count", "for_each"}) {
    if (const Argument argument = call.find(name); argument.attribute != nullptr) {
      return location(argument);
    }
  }
  for (const hcl::Block& block : call.block->body.blocks) {
    const hcl::Attribute* enabled = block.type == "lifecycle" ? block.body.find("enabled") : nullptr;
    if (enabled != nullptr && tool == ClientKind::opentofu) {
      return location({enabled, call.file});
    }
  }
  const Argument depends_on = call.find("depends_on");
  const auto* list =
      depends_on.attribute != nullptr ? std::get_if<hcl::Tuple>(&depends_on.attribute->value.node) : nullptr;
  return list != nullptr && !list->items.empty() ? std::optional(location(depends_on)) : std::nullopt;
}

class PassingCheck {
 public:
  PassingCheck(const ModuleTree& tree, ClientKind tool) : tree_(tree), tool_(tool) {}

  Diagnostics run() {
    for (const TreeModule& module : tree_.modules) {
      const bool is_tests = module.key.empty() && !modules_.empty();
      if (!is_tests) {
        modules_.emplace(module.key, &module);
        check_module(module);
      }
    }
    return std::move(diagnostics_);
  }

 private:
  const ModuleProviders& providers_of(const TreeModule& module) {
    auto& known = providers_[module.parsed.get()];
    if (known == nullptr) {
      known = std::make_unique<ModuleProviders>(module.parsed->written_providers);
    }
    return *known;
  }

  // Callers stand before those they call.
  void check_module(const TreeModule& module) {
    const ModuleProviders& providers = providers_of(module);
    if (tool_ == ClientKind::opentofu && checked_.insert(module.parsed.get()).second) {
      check_references(module, providers);
    }
    const auto node = tree_.nodes.find(module.key);
    if (node == tree_.nodes.end() || node->second.call.written->literal_only) {
      return;
    }
    const std::size_t dot = module.key.rfind('.');
    const auto caller = modules_.find(dot == std::string::npos ? std::string() : module.key.substr(0, dot));
    if (caller != modules_.end()) {
      check_call(*caller->second, module, *node->second.call.written);
    }
  }

  // References to provider configurations with for_each name an instance; no others do.
  void check_references(const TreeModule& module, const ModuleProviders& providers) {
    for (const ProviderUse& use : providers.uses) {
      if (use.reference && use.origin != ProviderRequirement::DeclaredBy::import_block) {
        check_instance(module, *use.reference, use.location.path, "resource", providers);
      }
    }
    for (const ModuleCallSyntax& call : module.parsed->calls) {
      for (const Passed& passed : read_passed(call)) {
        if (passed.child.key) {
          report(module, {passed.file->path, *passed.child.key},
                 "Invalid module provider configuration: instance keys are not allowed on the left side of a provider "
                 "assignment",
                 "remove the key");
        }
        check_instance(module, passed.parent, passed.file->path, "module", providers);
      }
    }
  }

  void check_instance(const TreeModule& module, const ProviderReference& reference, const std::string& path,
                      std::string_view what, const ModuleProviders& providers) {
    const bool repeated = providers.repeated.count(reference.to_string()) != 0;
    if (reference.key && (reference.alias.empty() || !repeated)) {
      report(module, {path, *reference.key},
             fmt::format("Invalid {} provider configuration: {} has an instance key, and no provider block of this "
                         "module with that alias has for_each",
                         what, reference.to_string()),
             "remove the key");
    } else if (!reference.key && repeated) {
      report(module, {path, reference.name_range},
             fmt::format("Invalid {} provider configuration: {} has for_each, so an instance key is required", what,
                         reference.to_string()),
             fmt::format("write {}[\"key\"]", reference.to_string()));
    }
  }

  void check_call(const TreeModule& caller, const TreeModule& module, const ModuleCallSyntax& call) {
    const ModuleProviders& own = providers_of(module);
    std::map<std::string, Passed> passed;
    for (Passed& item : read_passed(call)) {
      passed.emplace(item.child.to_string(), std::move(item));
    }
    const Location header{call.file->path, call.block->header_range};
    check_repetition(caller, module, call, own);
    for (const std::string& name : own.configured) {
      if (const auto found = passed.find(name); found != passed.end()) {
        report(caller, {found->second.file->path, found->second.child.name_range},
               fmt::format("Cannot override provider configuration: {} configures {} itself, so none can be passed to "
                           "it",
                           call.title, name),
               "remove the entry from providers");
      }
    }
    for (const auto& [name, address] : own.aliases) {
      if (own.configured.count(name) == 0 && passed.count(name) == 0) {
        report(caller, header,
               fmt::format("Missing required provider configuration: {} requires a configuration of {} with the local "
                           "name \"{}\"",
                           call.title, display(address), name),
               fmt::format("add an entry for {} to the providers argument of the call", name));
      }
    }
    for (const auto& [name, item] : passed) {
      check_passed(caller, name, item, own, call.title);
    }
  }

  void check_repetition(const TreeModule& caller, const TreeModule& module, const ModuleCallSyntax& call,
                        const ModuleProviders& own) {
    std::optional<Location> repetition = find_repetition(call, tool_);
    if (repetition) {
      repetition->path = join_relative(caller.directory, repetition->path);
    } else if (const auto outer = repetitions_.find(caller.key); outer != repetitions_.end()) {
      repetition = outer->second;
    }
    if (!repetition) {
      return;
    }
    repetitions_.emplace(module.key, *repetition);
    if (!own.configured.empty()) {
      add(*repetition,
          fmt::format("Module is incompatible with count, for_each{} and depends_on: {} contains provider "
                      "configurations of its own",
                      tool_ == ClientKind::opentofu ? ", enabled" : "", module.subject()),
          "pass the provider configurations to the module instead");
    }
  }

  void check_passed(const TreeModule& caller, const std::string& name, const Passed& item, const ModuleProviders& own,
                    const std::string& title) {
    const auto required = own.required.find(name);
    const auto alias = own.aliases.find(name);
    const auto expected = alias != own.aliases.end()       ? std::optional(alias->second)
                          : required != own.required.end() ? std::optional(required->second)
                                                           : type_of(item.child.name, own);
    const auto given = given_type(providers_of(caller), name, item.parent.name);
    if (!expected || !given) {
      return;
    }
    const bool declared = required != own.required.end() || alias != own.aliases.end() || own.empty.count(name) != 0;
    if (!declared && !is_default(*expected)) {
      report(caller, {item.file->path, item.child.name_range},
             fmt::format("Reference to undefined provider: {} declares no provider with the local name \"{}\"", title,
                         name),
             fmt::format("add {} to the configuration_aliases of the module", name));
    }
    if (!(*expected == *given)) {
      report(caller, {item.file->path, item.parent.name_range},
             fmt::format("Provider type mismatch: {} is {} here, and {} is {} in {}", item.parent.to_string(),
                         display(*given), name, display(*expected), title),
             "pass a configuration of the provider that the module expects");
    }
  }

  // A requirement of the caller that is named as the called module names its own counts, whatever is passed.
  std::optional<ProviderAddress> given_type(const ModuleProviders& caller, const std::string& child_name,
                                            const std::string& parent_name) const {
    const auto same = caller.required.find(child_name);
    return same != caller.required.end() ? std::optional(same->second) : type_of(parent_name, caller);
  }

  std::optional<ProviderAddress> type_of(const std::string& local_name, const ModuleProviders& providers) const {
    if (const auto found = providers.required.find(local_name); found != providers.required.end()) {
      return found->second;
    }
    auto address = ProviderAddress::parse(local_name, default_registry(tool_));
    return address ? std::optional(std::move(*address)) : std::nullopt;
  }

  bool is_default(const ProviderAddress& address) const {
    return address.name_space() == "hashicorp" && address.host_ascii() == default_registry(tool_);
  }

  std::string display(const ProviderAddress& address) const { return address.for_display(default_registry(tool_)); }

  void report(const TreeModule& module, const Location& location, std::string message, std::string hint) {
    add({join_relative(module.directory, location.path), location.range}, std::move(message), std::move(hint));
    diagnostics_.back().what.subject = module.subject();
  }

  void add(const Location& location, std::string message, std::string hint) {
    diagnostics_.push_back({Severity::error, Error{.code = Code::config_parse,
                                                   .message = std::move(message),
                                                   .location = location,
                                                   .hint = std::move(hint)}});
  }

  const ModuleTree& tree_;
  ClientKind tool_;
  Diagnostics diagnostics_;
  std::map<std::string, const TreeModule*> modules_;  // by key
  std::map<const ParsedModule*, std::unique_ptr<const ModuleProviders>> providers_;
  std::set<const ParsedModule*> checked_;        // whose references were
  std::map<std::string, Location> repetitions_;  // by key: what precludes provider configurations there and below
};

}  // namespace

Diagnostics check_provider_passing(const ModuleTree& tree, ClientKind tool) {
  return has_errors(tree.diagnostics) ? Diagnostics() : PassingCheck(tree, tool).run();
}

}  // namespace modlock
