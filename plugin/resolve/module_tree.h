#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/parsed_module.h"
#include "plugin/config/variable.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_node.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"

namespace modlock {

// A file that was read, for results.
struct TreeFile {
  std::string path;  // relative to the root
  ConfigFile::Role role = ConfigFile::Role::primary;
  std::string sha256;
};

// A module that was read: the root, or a call whose files are available.
struct TreeModule {
  std::string key;        // "" is the root
  std::string directory;  // as in modules.json; locations in `parsed` are relative to it
  std::shared_ptr<const ParsedModule> parsed;
  Location call;          // of the source of the call; empty for the root
  bool of_tests = false;  // the root's test files, and modules that only they call

  std::string subject() const { return key.empty() ? "" : "module." + key; }
};

// A call without an address: its source or version has no value, is invalid, or is not allowed.
struct UnresolvedCall {
  std::string key;
  std::string directory;  // of the calling module, as in TreeModule
  const ModuleCallSyntax* written = nullptr;
};

struct ModuleTree {
  std::map<std::string, ModuleNode, std::less<>> nodes;  // by key, in byte order
  std::vector<TreeModule> modules;                       // the root first; then its test files, as key ""; then as read
  std::vector<UnresolvedCall> unresolved;                // each with a diagnostic
  std::vector<TreeFile> files;
  Diagnostics diagnostics;  // errors for parts of the configuration that could not be read
  bool complete = true;     // false: the calls below some node are not known
};

// Provides packages during the walk. Called with all remote nodes of one level of the tree, in key order. Sets
// package_directory of the nodes to descend into. An error ends the walk.
using VisitLevel = std::function<Result<void>(std::span<ModuleNode* const> level)>;

struct WalkRequest {
  std::filesystem::path root;                 // absolute, lexically normal
  std::vector<std::filesystem::path> bounds;  // the root and its local modules may only read below one of these
  // Set outside a git repository: local sources may also name directories outside the bounds.
  bool follows_local_sources = false;
  std::string data_directory = ".terraform";  // as in the manifest
  Documents documents = {};
  Settings settings = {};
  ClientKind tool = ClientKind::opentofu;
  std::optional<ClientKind> registry_of = {};  // whose default registry applies; unset: that of `tool`
  VariableInputs variables = {};
  std::string workspace = "default";
  // Directories of modules that a client or `install` has installed. They are read in parallel before the walk, which
  // needs most of them. A module that is no longer called is read unnecessarily.
  std::set<std::filesystem::path> installed = {};  // absolute, lexically normal
};

// Walks module calls level by level: the root, its local modules, then packages as `visit` provides them. An error of a
// single call (no such local directory, a setting that cannot apply, an address that cannot be parsed, a module below
// itself) is a diagnostic at its location, and the walk continues with the other calls. Nesting over 64 levels and more
// than 200,000 calls are LIMIT_EXCEEDED. Errors: those of `visit`, cancellation, an unreadable root.
Result<ModuleTree> walk_modules(const WalkRequest& request, const VisitLevel& visit, const Context& context);

// Returns the constraints of a call, and then those of the other calls that get the same version.
std::vector<ConstraintUse> shared_constraints(const ModuleTree& tree, const ModuleNode& node, Resolution resolution);

// Returns module rules of the settings whose key matches no call: CONFIG_PARSE at the rule. It is an error in the
// settings file of the root directory, and in a file above it if the call was renamed according to the lock entries;
// otherwise a note. The hint names the new call, or for an error the nearest one. In a tree that was not walked
// completely, only the rules of renamed calls are known to match none.
Diagnostics unmatched_rules(const Settings& settings, const ModuleTree& tree, const ModuleLocks& locks);

}  // namespace modlock
