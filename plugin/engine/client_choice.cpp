
#include <fmt/format.h>

#include <algorithm>

#include "backends/base/process.h"
#include "plugin/config/config_files.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVariableHint =
    "set TOFU_MODLOCK_IMPLEMENTATION to the client that runs this root module: opentofu or terraform";

ClientKind other_client(ClientKind tool) {
  return tool == ClientKind::terraform ? ClientKind::opentofu : ClientKind::terraform;
}

// Returns whether only OpenTofu reads a file of the directory.
bool has_files_of_opentofu(const fs::path& directory) {
  std::error_code error;
  const fs::directory_iterator entries(directory, error);
  return !error && std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return config_kind(name) && name.find(".tofu", 1) != std::string::npos;
  });
}

// A call whose package is not the same for both clients, because its address has no host; null: there is none.
const ModuleNode* find_dependent_call(const ModuleTree& tree, ClientKind tool) {
  const std::string_view registry = default_registry(tool);
  const auto found = std::ranges::find_if(tree.nodes, [&](const auto& one) {
    const ModuleNode& node = one.second;
    return node.address.source.kind == SourceKind::registry && node.address.source.host == registry &&
           !node.call.source.text.starts_with(registry);
  });
  return found == tree.nodes.end() ? nullptr : &found->second;
}

Error frozen_at(std::string message, std::string subject, const Location& location, std::string hint) {
  return Error{.code = Code::frozen,
               .message = std::move(message),
               .subject = std::move(subject),
               .location = location,
               .hint = std::move(hint)};
}

// Reads the root as the other client, if that one reads other files. What it rejects it does not load.
Result<void> check_other_files(OpenRoot& open, const ModuleTree& tree) {
  const bool differs = has_files_of_opentofu(open.root.walk.root / "tests") ||
                       std::ranges::any_of(tree.modules, [](const TreeModule& module) {
                         return has_files_of_opentofu(module.parsed->directory);
                       });
  if (!differs) {
    return {};
  }
  RootRequest twin = open.root;
  twin.walk.tool = other_client(open.root.walk.tool);
  twin.walk.registry_of = open.root.walk.tool;
  const LockFile lock = effective_lock(open.lock);
  const auto read = walk_offline_modules(twin, open);
  if (!read) {
    return open.context.check();
  }
  const auto unlocked = [&](const std::string& key, const Location& location) {
    return fail(frozen_at(
        fmt::format("{} calls module \"{}\" here, and the lock file is for {} ({}) and does not have it",
                    display_name(twin.walk.tool), key, display_name(open.root.walk.tool),
                    open.root.implementation.from),
        "module." + key, location,
        fmt::format("set TOFU_MODLOCK_IMPLEMENTATION={} if only {} runs this root module; otherwise remove the call",
                    to_string(open.root.walk.tool), display_name(open.root.walk.tool))));
  };
  for (const auto& [key, node] : read->nodes) {
    const auto known = tree.nodes.find(key);
    const bool is_same = known != tree.nodes.end() &&
                         known->second.address.source.identity() == node.address.source.identity() &&
                         known->second.constraints_text() == node.constraints_text();
    const auto entry = lock.modules.find(key);
    if (node.address.source.is_remote() && !is_same &&
        (entry == lock.modules.end() || why_not_answered(node, entry->second))) {
      return unlocked(key, node.call.source.location);
    }
  }
  for (const UnresolvedCall& call : read->unresolved) {
    if (lock.modules.count(call.key) == 0 && tree.nodes.count(call.key) == 0) {
      return unlocked(call.key, {join_relative(call.directory, call.written->file->path), std::nullopt});
    }
  }
  return {};
}

}  // namespace

Result<std::optional<messages::CheckedFor>> check_client_choice(OpenRoot& open, const ModuleTree& tree, bool is_check,
                                                                Diagnostics& diagnostics) {
  const ClientProgram& client = open.root.implementation;
  MODLOCK_TRY(const auto base, is_check ? read_base(open.root, open.engine().options(), open.context)
                                        : Result<std::optional<BaseState>>(std::nullopt));
  if (client.decider == Decider::user) {
    return std::nullopt;
  }
  if (is_check) {
    MODLOCK_TRY(check_other_files(open, tree));
  }
  const ModuleNode* const node = find_dependent_call(tree, client.tool);
  if (node == nullptr) {
    return std::nullopt;
  }
  const ClientKind other = other_client(client.tool);
  const auto before = base ? declared_client(base->settings, base->lock_text.value_or("")) : std::nullopt;
  if (before && before->tool == other) {
    return fail(frozen_at(
        fmt::format(
            "\"{}\" has no host, so its registry depends on the client, and the change replaces {} ({} at {}) by "
            "{} ({})",
            node->call.source.text, display_name(other), before->from, open.engine().options().base,
            display_name(client.tool), client.from),
        node->subject(), node->call.source.location, std::string(kVariableHint)));
  }
  const bool has_declared = find_program(command_of(client.tool)).has_value();
  const bool has_other = find_program(command_of(other)).has_value();
  if (client.decider != Decider::checkout || (has_declared && !has_other)) {
    return std::nullopt;
  }
  if (has_declared == has_other) {
    return messages::CheckedFor{std::string(to_string(client.tool)), client.from};
  }
  Error error = frozen_at(
      fmt::format("\"{}\" has no host, so its registry depends on the client: {} declares {}, and only {} is on PATH",
                  node->call.source.text, client.from, display_name(client.tool), command_of(other)),
      node->subject(), node->call.source.location, std::string(kVariableHint));
  if (is_check) {
    return fail(std::move(error));
  }
  diagnostics.push_back({Severity::warning, std::move(error)});
  return std::nullopt;
}

}  // namespace modlock
