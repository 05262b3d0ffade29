#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "plugin/engine/engine.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// Who decides which client it is: the user (a flag, a variable, the user's settings, or the command that runs), the
// checkout (its settings, its lock file, a .tofu file), or this machine (the programs on PATH).
enum class Decider { user, checkout, machine };

// The client for which a configuration is read and locked.
struct ClientProgram {
  ClientKind tool = ClientKind::opentofu;
  std::string from;          // its source: "options", ".tofu-modlock.hcl", "TG_CTX_TF_PATH", …
  std::string version = {};  // if a host named it; otherwise client_version_of() finds it
  std::string command = {};  // of the client; the caller resolves it with find_program()
  Decider decider = Decider::machine;
};

// Returns the client of a program, by its name; nullopt: the name is of neither.
std::optional<ClientKind> client_named_by(const std::filesystem::path& program);
// Returns "tofu" or "terraform".
std::string command_of(ClientKind tool);

// Returns the client that a checkout declares: with the setting `implementation`, or the header of its lock file.
std::optional<ClientProgram> declared_client(const Settings& settings, std::string_view lock_text);

// Returns the header of a new lock file of this name, from which declared_client() reads the client. That of the
// sidecar names tofu-modlock, which is the only program that writes it.
std::string_view lock_header(ClientKind tool, std::string_view name);

// Finds the client for a root, if one is given: the options, $TG_CTX_TF_PATH, the settings of the user, then those of
// the checkout, the header of its dependency lock file, a .tofu file in it, tofu or else terraform on PATH, or else
// OpenTofu. `lock_text`: of this file, if it was read, and "" if there is none.
ClientProgram find_client(const EngineOptions& options, const WalkRequest* root = nullptr,
                          std::optional<std::string> lock_text = {});

struct ClientVersion {
  std::string version;
  bool is_known = true;  // false: not specified, and `version` is the newest that this build knows
};

// Returns the version: as specified, or else the output of `version -json` in the directory `root`. The output is
// cached by the program's path, size and modification time. Version managers (tfenv, asdf, tenv) are run each time. If
// a program does not respond, its version is unknown.
ClientVersion client_version_of(const ClientProgram& implementation, const std::filesystem::path& root,
                                const EngineOptions& options, const Context& context);

// Adds what this client version rejects in the modules of a tree (check_core_versions()). Removes other errors in the
// files of these modules from `diagnostics`, as OpenTofu does from 1.12 on. If the version is unknown, a module that
// excludes it is a warning, which hides nothing. Adds the warnings of check_client_rules(). Determines the version only
// if a module has a requirement or uses such a rule.
void check_client_versions(const ModuleTree& tree, const ClientProgram& implementation, const EngineOptions& options,
                           const Context& context, Diagnostics& diagnostics);

inline constexpr std::string_view kNewestOpenTofu = "1.13.0";
inline constexpr std::string_view kNewestTerraform = "1.16.0";

}  // namespace modlock
