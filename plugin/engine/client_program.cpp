#include "plugin/engine/client_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/store/store.h"
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

// A module that the client version rejects may use syntax that this version does not know.
void suppress_secondary_errors(const Diagnostics& found, const ModuleTree& tree, Diagnostics& diagnostics) {
  std::set<fs::path> refusing;
  for (const Diagnostic& one : found) {
    if (one.severity == Severity::error && one.what.code == Code::constraint_conflict && one.what.location) {
      refusing.insert(fs::path(one.what.location->path).parent_path());
    }
  }
  if (refusing.empty()) {
    return;
  }
  std::set<std::string_view> files;
  for (const TreeFile& file : tree.files) {
    if (refusing.count(fs::path(file.path).parent_path()) != 0) {
      files.insert(file.path);
    }
  }
  std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) {
    return diagnostic.what.location && files.count(diagnostic.what.location->path) != 0;
  });
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
  Diagnostics found = check_core_versions(tree, implementation.tool, release.version);
  for (Diagnostic& diagnostic : found) {
    if (!release.is_known) {
      diagnostic.severity = Severity::warning;
      diagnostic.what.hint = "specify the client version with --implementation-version";
    }
  }
  suppress_secondary_errors(found, tree, diagnostics);
  append(diagnostics, std::move(found));
  append(diagnostics, check_client_rules(tree, implementation.tool, release.version));
}

}  // namespace modlock
