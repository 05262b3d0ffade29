#pragma once

#include <filesystem>
#include <string>

#include "backends/base/context.h"
#include "plugin/engine/engine.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// The client that a configuration is read and locked for.
struct ClientProgram {
  ClientKind tool = ClientKind::opentofu;
  std::string from;          // what said so: "options", ".tofu-modlock.hcl", "TG_CTX_TF_PATH", …
  std::string version = {};  // where a host named it; else client_version_of() finds it
  std::string command = {};  // of the client, for find_program(): looked for by who needs it
};

// Where no root is asked about: the options, $TG_CTX_TF_PATH, tofu or else terraform on PATH, else OpenTofu.
ClientProgram find_client(const EngineOptions& options);

// For a root: the options, its settings, $TG_CTX_TF_PATH, the header of its dependency lock file, a .tofu file in it,
// then as above.
ClientProgram find_client(const EngineOptions& options, const WalkRequest& root);

struct ClientVersion {
  std::string version;
  bool is_known = true;  // false: nobody said, and `version` is the newest that this build knows
};

// The release: as named, else what the program answers to `version -json` in the directory `root`, remembered in the
// cache by the program's path, size and time of change. What stands in for a client (tfenv, asdf, tenv) is asked each
// time. A program that does not answer counts as unknown.
ClientVersion client_version_of(const ClientProgram& implementation, const std::filesystem::path& root,
                                const EngineOptions& options, const Context& context);

// Adds what the release refuses in the modules of a tree (check_core_versions()), and removes from `diagnostics` what
// else is wrong in the files of these modules, as OpenTofu does from 1.12 on. Where the release is unknown, a module
// that excludes it is a warning, which hides nothing. Asks for the release only where a module says anything about it.
void check_client_versions(const ModuleTree& tree, const ClientProgram& implementation, const EngineOptions& options,
                           const Context& context, Diagnostics& diagnostics);

inline constexpr std::string_view kNewestOpenTofu = "1.12.6";
inline constexpr std::string_view kNewestTerraform = "1.14.0";

}  // namespace modlock
