#include "plugin/engine/client_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/store/store.h"
#include "plugin/config/config_files.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_tree.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{10};

ClientProgram client_named(ClientKind tool, std::string from, Decider decider) {
  return {.tool = tool, .from = std::move(from), .command = command_of(tool), .decider = decider};
}

ClientKind kind_named(std::string_view name) {
  return name == "terraform" ? ClientKind::terraform : ClientKind::opentofu;
}

ClientProgram found_on_path() {
  for (const ClientKind tool : {ClientKind::opentofu, ClientKind::terraform}) {
    if (find_program(command_of(tool))) {
      return client_named(tool, "PATH", Decider::machine);
    }
  }
  return client_named(ClientKind::opentofu, "default", Decider::machine);
}

// The first line of a lock names the client that wrote it.
std::optional<ClientKind> tool_of_lock(std::string_view text) {
  const std::string_view header = text.substr(0, text.find('\n'));
  if (header.find("\"tofu init\"") != std::string_view::npos) {
    return ClientKind::opentofu;
  }
  return header.find("\"terraform init\"") != std::string_view::npos ? std::optional(ClientKind::terraform)
                                                                     : std::nullopt;
}

bool is_tofu_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with('.') && (name.ends_with(".tofu") || name.ends_with(".tofu.json"));
}

bool has_tofu_file(const WalkRequest& root) {
  const bool overlaid = std::ranges::any_of(root.documents, [&](const auto& document) {
    return document.first.parent_path() == root.root && is_tofu_file(document.first);
  });
  std::error_code error;
  const fs::directory_iterator entries(root.root, error);
  return overlaid || (!error && std::any_of(begin(entries), end(entries),
                                            [](const auto& entry) { return is_tofu_file(entry.path()); }));
}

// Returns the file in which the version of a program is cached; nullopt: none. A replaced program has another time or
// size. Stand-ins for clients (a script, a symbolic link to a version manager, its small proxy) respond according to
// the working directory and to files there that change.
std::optional<fs::path> memo_of(const fs::path& program, const EngineOptions& options) {
  constexpr std::uintmax_t kSmallestClient = std::uintmax_t{16} << 20U;
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  const auto size = error ? 0 : fs::file_size(real, error);
  if (error || size < kSmallestClient || !client_named_by(real) || options.cache_directory.empty()) {
    return std::nullopt;
  }
  const auto changed = fs::last_write_time(real, error).time_since_epoch().count();
  return options.cache_directory / kClientDirectory /
         sha256_hex(fmt::format("{}\n{}\n{}", real.string(), changed, size));
}

std::optional<std::string> ask_program(const fs::path& program, const fs::path& directory, const Context& context) {
  Context limited = context;
  const auto latest = std::chrono::steady_clock::now() + kPatience;
  limited.deadline = limited.deadline ? std::min(*limited.deadline, latest) : latest;
  const auto finished = run_command({.argv = {fs::absolute(program).string(), "version", "-json"},
                                     .directory = directory,
                                     .set_environment = {{"CHECKPOINT_DISABLE", "1"}},
                                     .unset_environment = {"TF_CLI_ARGS*", "TF_LOG*"}},
                                    limited);
  if (!finished || finished->exit_code != 0) {
    return std::nullopt;
  }
  const auto answer = parse_json(finished->output);
  if (!answer || !answer->isObject() || !(*answer)["terraform_version"].isString()) {
    return std::nullopt;
  }
  return (*answer)["terraform_version"].asString();
}

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
  const auto* found = find_where(tree.nodes, [&](const auto& one) {
    const ModuleNode& node = one.second;
    return node.address.source.is_registry() && node.address.source.host == registry &&
           !node.call.source.text.starts_with(registry);
  });
  return found ? &found->second : nullptr;
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
    const ModuleNode* known = find_in(tree.nodes, key);
    const bool is_same = known && known->address.source.identity() == node.address.source.identity() &&
                         known->constraints_text() == node.constraints_text();
    const ModuleLock* entry = find_in(open.lock.modules(), key);
    if (node.address.source.is_remote() && !is_same && (!entry || why_not_answered(node, *entry))) {
      return unlocked(key, node.call.source.location);
    }
  }
  for (const UnresolvedCall& call : read->unresolved) {
    if (open.lock.modules().count(call.key) == 0 && tree.nodes.count(call.key) == 0) {
      return unlocked(call.key, {join_relative(call.directory, call.written->file->path), std::nullopt});
    }
  }
  return {};
}

}  // namespace

// "terraform", "terraform-1.5", "tofu1.12", "tofu.exe".
std::optional<ClientKind> client_named_by(const fs::path& program) {
  const std::string name = program.filename().string();
  const std::string_view base = std::string_view(name).substr(0, name.find_first_of("-_.0123456789"));
  if (base == "terraform") {
    return ClientKind::terraform;
  }
  return base == "tofu" || base == "opentofu" ? std::optional(ClientKind::opentofu) : std::nullopt;
}

std::string_view lock_header(ClientKind tool, std::string_view name) {
  const bool is_terraform = tool == ClientKind::terraform;
  if (name != kSidecarFileName) {
    return is_terraform ? kTerraformLockHeader : kOpenTofuLockHeader;
  }
  return is_terraform ? "# This file is maintained automatically by tofu-modlock for \"terraform init\".\n"
                        "# Manual edits may be lost in future updates.\n"
                      : "# This file is maintained automatically by tofu-modlock for \"tofu init\".\n"
                        "# Manual edits may be lost in future updates.\n";
}

std::string command_of(ClientKind tool) {
  return tool == ClientKind::terraform ? "terraform" : "tofu";
}

std::optional<ClientProgram> declared_client(const Settings& settings, std::string_view lock_text) {
  if (settings.implementation) {
    return client_named(kind_named(*settings.implementation), std::string(kSettingsFileName), Decider::checkout);
  }
  const auto tool = tool_of_lock(lock_text);
  return tool ? std::optional(client_named(*tool, "lock file", Decider::checkout)) : std::nullopt;
}

ClientProgram find_client(const EngineOptions& options, const WalkRequest* root, std::optional<std::string> lock_text) {
  const fs::path running = environment_variable("TG_CTX_TF_PATH");
  const auto find = [&] {
    if (options.implementation) {
      return client_named(kind_named(*options.implementation), "options", Decider::user);
    }
    if (const auto tool = client_named_by(running)) {
      return ClientProgram{
          .tool = *tool, .from = "TG_CTX_TF_PATH", .command = running.string(), .decider = Decider::user};
    }
    if (root != nullptr && root->settings.is_client_of_user) {
      return client_named(kind_named(*root->settings.implementation), "your settings", Decider::user);
    }
    if (root != nullptr && !lock_text) {
      lock_text = read_document(root->root / kLockFileName, root->documents).value_or(std::nullopt);
    }
    if (auto declared = root == nullptr ? std::nullopt : declared_client(root->settings, lock_text.value_or(""))) {
      return std::move(*declared);
    }
    if (root != nullptr && has_tofu_file(*root)) {
      return client_named(ClientKind::opentofu, "a .tofu file", Decider::checkout);
    }
    return running.empty() ? found_on_path() : client_named(ClientKind::opentofu, "TG_CTX_TF_PATH", Decider::machine);
  };
  ClientProgram client = find();
  client.command = running.empty() || options.implementation ? std::move(client.command) : running.string();
  client.version = options.implementation_version.value_or("");
  return client;
}

ClientVersion client_version_of(const ClientProgram& implementation, const fs::path& root, const EngineOptions& options,
                                const Context& context) {
  if (!implementation.version.empty()) {
    return {implementation.version};
  }
  const ClientVersion unknown{
      std::string(implementation.tool == ClientKind::terraform ? kNewestTerraform : kNewestOpenTofu), false};
  const auto program = find_program(implementation.command);
  if (!program) {
    return unknown;
  }
  const auto memo = memo_of(*program, options);
  if (memo) {
    if (auto remembered = read_file(*memo)) {
      return {std::move(*remembered)};
    }
  }
  auto version = ask_program(*program, root, context);
  if (!version) {
    return unknown;
  }
  if (memo) {
    // If it cannot be stored, the program is run again.
    (void)make_store_root(options.cache_directory)
        .and_then([&] { return make_directories(memo->parent_path()); })
        .and_then([&] { return write_file_atomically(*memo, *version); });
  }
  return {std::move(*version)};
}

void check_client_versions(const ModuleTree& tree, const ClientProgram& implementation, const EngineOptions& options,
                           const Context& context, Diagnostics& diagnostics) {
  const bool asks =
      std::ranges::any_of(tree.modules, [](const TreeModule& module) { return !module.parsed->core.empty(); });
  if (!asks && check_client_rules(tree, implementation.tool, "").empty()) {
    return;
  }
  const ClientVersion release =
      client_version_of(implementation, tree.modules.front().parsed->directory, options, context);
  check_core_versions(tree, implementation.tool, release.version, release.is_known, diagnostics);
  append(diagnostics, check_client_rules(tree, implementation.tool, release.version));
}

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
