#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/base/collections.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/install_record.h"
#include "plugin/resolve/provider_tree.h"
#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"

namespace modlock {
namespace {

std::vector<Location> constraint_locations(const ModuleNode& node) {
  auto locations = mapped(node.constraints, &ConstraintUse::location);
  if (node.commit && node.call.version) {
    locations.push_back(node.call.version->location);
  }
  return locations;
}

std::optional<std::string> repeated_by(const ModuleCallSyntax& call) {
  for (const char* argument : {"count", "for_each"}) {
    if (call.find(argument).attribute != nullptr) {
      return argument;
    }
  }
  return std::nullopt;
}

messages::InspectedModule to_message(const ModuleNode& node, const LockFile& lock) {
  const auto entry = lock.modules.find(node.key);
  const bool counts = entry != lock.modules.end() && entry->second.source == node.address.source.identity();
  const auto locked_hash = [&](std::string_view scheme) {
    const std::string hash = counts ? entry->second.hash_value(scheme) : std::string();
    return hash.empty() ? std::nullopt : std::optional(hash);
  };
  const std::string source = printable_form(node.address);
  const bool shows_all = source == node.address.normalised.reveal() || node.address.source.is_external();
  return {.key = node.key,
          .source = source,
          .source_kind = std::string(node.address.source.kind_name()),
          .raw_source = shows_all ? written_source(*node.call.written) : std::nullopt,
          .constraint = node.constraints_text(),
          .constraint_locations = constraint_locations(node),
          .location = node.call.source.location,
          .locked = counts,
          .locked_version = counts ? entry->second.version : std::nullopt,
          .commit = locked_hash("git"),
          .digest = locked_hash("oci"),
          .checksum = locked_hash("zh"),
          .of_tests = node.of_tests,
          .is_static = node.call.is_static,
          .repeated_by = repeated_by(*node.call.written)};
}

messages::InspectedModule to_message(const UnresolvedCall& call) {
  const Argument source = call.written->find("source");
  const bool has_source = source.attribute != nullptr;
  const ConfigText& file = has_source ? *source.file : *call.written->file;
  const Range& range = has_source ? source.attribute->value.range : call.written->block->header_range;
  return {.key = call.key,
          .raw_source = written_source(*call.written),
          .location = {join_relative(call.directory, file.path), range},
          .is_static = is_written_out(*call.written),
          .repeated_by = repeated_by(*call.written)};
}

messages::InspectedProvider to_message(const ProviderAddress& address, const std::vector<RequiredBy>& uses,
                                       ClientKind tool) {
  messages::InspectedProvider message{.address = address.to_string(),
                                      .builtin = address.is_builtin(default_registry(tool))};
  const ProviderRequirement& first = uses.front().requirement;
  if (!first.local_name.empty()) {
    message.local_name = first.local_name;
  }
  for (const RequiredBy& use : uses) {
    if (message.modules.empty() || message.modules.back() != use.module) {
      message.modules.push_back(use.module);
    }
    if (use.requirement.constraint) {
      message.constraints.push_back(
          {use.requirement.constraint->text, use.module, use.requirement.constraint->location});
    }
  }
  const bool is_declared = std::ranges::any_of(uses, [](const RequiredBy& use) {
    return use.requirement.origin == ProviderRequirement::DeclaredBy::required_providers;
  });
  if (first.origin == ProviderRequirement::DeclaredBy::state) {
    message.implied_by = "state";
  } else if (!is_declared && !first.by.empty()) {
    message.implied_by = first.by;
  }
  return message;
}

// Returns the providers of the configuration, and those that only the state still needs.
std::vector<messages::InspectedProvider> inspect_providers(const RootRequest& root, const ModuleTree& tree,
                                                           Diagnostics& diagnostics) {
  auto required = required_providers(tree);
  auto state = read_state(root, tree);
  if (!state) {
    diagnostics.push_back({Severity::error, std::move(state.error())});
  } else {
    append(diagnostics, state->diagnostics);
    if (!state->unreadable.empty()) {
      diagnostics.push_back(
          {Severity::info,
           Error{.code = Code::state_unread,
                 .message = fmt::format("providers that only the state needs are not known: {}", state->unreadable),
                 .hint = "nothing to do, unless the state uses providers that the configuration lacks"}});
    }
    for (ProviderRequirement& requirement : state->providers) {
      std::vector<RequiredBy>& uses = required[requirement.address];
      if (uses.empty()) {
        uses.push_back({"", std::move(requirement)});
      }
    }
  }
  return mapped(required, [&](const auto& entry) { return to_message(entry.first, entry.second, root.walk.tool); });
}

std::vector<messages::InspectedCoreVersion> core_versions(const ModuleTree& tree) {
  constexpr std::array kFrom = {"required_version", "compatible_with"};
  std::vector<messages::InspectedCoreVersion> found;
  for (const TreeModule& module : tree.modules) {
    for (const CoreRequirement& requirement : module.parsed->core) {
      found.push_back(
          {.from = kFrom.at(static_cast<std::size_t>(requirement.kind)),
           .constraint = requirement.constraint,
           .module = module.key,
           .location = {join_relative(module.directory, requirement.location.path), requirement.location.range}});
    }
  }
  return found;
}

}  // namespace

Result<messages::ConfigInspectResult> Engine::inspect(const messages::RootParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params, {}));
  RootRequest& root = open->root;
  open->context.check_source = {};
  const LockFile locked = effective_lock(open->lock);
  MODLOCK_TRY(auto tree, walk_offline_modules(root, *open));
  messages::ConfigInspectResult result;
  constexpr std::array kRoles = {"primary", "override", "test"};
  for (const TreeFile& file : tree.files) {
    const std::string role = kRoles.at(static_cast<std::size_t>(file.role));
    result.files.push_back({.path = file.path, .role = role, .sha256 = file.sha256});
  }
  for (const auto& [key, node] : tree.nodes) {
    messages::InspectedModule& module = result.modules.emplace_back(to_message(node, locked));
    const auto place = module.locked ? root.data.place_of(key) : std::nullopt;
    if (const PlacedCopy copy = place ? find_copy(store(), *place) : PlacedCopy(); !copy.h1.empty()) {
      module.replaced_by = relative_to_root(copy.directory, root.walk.root);
    }
  }
  std::ranges::transform(tree.unresolved, std::back_inserter(result.modules),
                         [](const UnresolvedCall& call) { return to_message(call); });
  std::ranges::sort(result.modules, {}, &messages::InspectedModule::key);
  result.diagnostics = tree.diagnostics;
  result.providers = inspect_providers(root, tree, result.diagnostics);
  result.core_versions = core_versions(tree);
  append(result.diagnostics, unmatched_rules(root.walk.settings, tree, known_locks(*open)));
  check_client_versions(tree, root.implementation, options(), open->context, result.diagnostics);
  MODLOCK_TRY(open->context.check());
  run.diagnostics = result.diagnostics;
  return result;
}

}  // namespace modlock
