#pragma once

#include <filesystem>
#include <string>

#include "backends/context.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/server/service.h"

namespace modlock {

// The client that a configuration is read and locked for.
struct Implementation {
  Tool tool = Tool::opentofu;
  std::string from;                    // what said so: "options", ".tofu-modlock.hcl", "TG_CTX_TF_PATH", …
  std::string version = {};            // where a host named it; else release_of() finds it
  std::filesystem::path program = {};  // of the client, where one was found
};

// Where no root is asked about: the options, $TG_CTX_TF_PATH, tofu or else terraform on PATH, else OpenTofu.
Implementation find_implementation(const ServiceOptions& options);

// For a root: the options, its settings, $TG_CTX_TF_PATH, the header of its dependency lock file, a .tofu file in it,
// then as above.
Implementation find_implementation(const ServiceOptions& options, const WalkRequest& root);

struct Release {
  std::string version;
  bool is_known = true;  // false: nobody said, and `version` is the newest that this build knows
};

// The release: as named, else what the program answers to `version -json`, remembered in the cache by its path and the
// time it was changed. A program that does not answer counts as unknown.
Release release_of(const Implementation& implementation, const ServiceOptions& options, const Context& context);

// What the release refuses in the modules of a tree (check_core_versions()). Where the release is unknown, a module
// that excludes it is a warning. Asks for the release only where a module says anything about it.
Diagnostics judge_releases(const ModuleTree& tree, const Implementation& implementation, const ServiceOptions& options,
                           const Context& context);

inline constexpr std::string_view kNewestOpenTofu = "1.12.6";
inline constexpr std::string_view kNewestTerraform = "1.14.0";

}  // namespace modlock
