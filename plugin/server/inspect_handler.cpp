#include "plugin/install/package_lookup.h"
#include "plugin/server/handlers.h"
#include "plugin/server/plan_request.h"
#include "protocol/messages/config_inspect.h"

namespace modlock {
namespace {

std::string to_text(ConfigFile::Role role) {
  switch (role) {
    case ConfigFile::Role::primary:
      return "primary";
    case ConfigFile::Role::override_file:
      return "override";
    case ConfigFile::Role::test:
      break;
  }
  return "test";
}

messages::InspectedModule to_message(const ModuleNode& node, const LockFile& lock) {
  const auto entry = lock.modules.find(node.key);
  const bool counts = entry != lock.modules.end() && entry->second.source == node.address.source.identity();
  return {.key = node.key,
          .source = node.is_local() ? node.address.source.path : node.address.source.identity(),
          .source_kind = std::string(to_string(node.address.source.kind)),
          .constraint = node.constraints_text(),
          .location = node.call.source.location,
          .locked_version = counts ? entry->second.version : std::nullopt};
}

}  // namespace

Result<Json::Value> handle_config_inspect(const Service& service, const Json::Value& params, RequestContext& request) {
  Stats stats;
  auto decoded = messages::decode_config_inspect(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  auto root = open_root(*decoded, service);
  if (!root) {
    return fail(std::move(root.error()));
  }
  auto lock = open_lock(*root, {});
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  const LockFile locked = effective_lock(*lock);
  const auto visit = [&](std::span<ModuleNode* const> level) -> Result<void> {
    for (ModuleNode* node : level) {
      node->package_directory = known_package(*node, root->data, locked, service.store());
    }
    return {};
  };
  auto tree = walk_modules(root->walk, visit, make_context(request, service, stats));
  if (!tree) {
    return fail(std::move(tree.error()));
  }
  messages::ConfigInspectResult result;
  for (const TreeFile& file : tree->files) {
    result.files.push_back({.path = file.path, .role = to_text(file.role), .sha256 = file.sha256});
  }
  for (const auto& [key, node] : tree->nodes) {
    result.modules.push_back(to_message(node, locked));
  }
  const Diagnostics unmatched = unmatched_rules(root->walk.settings, *tree);
  result.diagnostics = std::move(tree->diagnostics);
  result.diagnostics.insert(result.diagnostics.end(), unmatched.begin(), unmatched.end());
  return messages::encode(result);
}

}  // namespace modlock
