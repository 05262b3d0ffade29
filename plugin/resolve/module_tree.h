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
#include "plugin/config/variable_values.h"
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

// A module that was read: the root, and every call whose files are there.
struct TreeModule {
  std::string key;        // "" is the root
  std::string directory;  // as modules.json names it; locations in `parsed` are relative to it
  std::shared_ptr<const ParsedModule> parsed;
  Location call;          // of the source that brought it here; the root has none
  bool of_tests = false;  // the root's test files, and what only they call

  std::string subject() const { return key.empty() ? "" : "module." + key; }
};

// A call of which no address came: its source or version has no value, is no address, or is refused.
struct UnresolvedCall {
  std::string key;
  std::string directory;  // of the calling module, as TreeModule has it
  const ModuleCallSyntax* written = nullptr;
};

struct ModuleTree {
  std::map<std::string, ModuleNode, std::less<>> nodes;  // by key, bytewise
  std::vector<TreeModule> modules;                       // the root first; then its test files, as key ""; then as read
  std::vector<UnresolvedCall> unresolved;                // each with a diagnostic
  std::vector<TreeFile> files;
  Diagnostics diagnostics;  // errors: parts of the configuration that could not be read
  bool complete = true;     // false: below some node nobody looked
};

// Where packages come from while walking. Called with all remote nodes of one level of the tree, in key order; sets
// package_directory of those to go on below. An error ends the walk.
using VisitLevel = std::function<Result<void>(std::span<ModuleNode* const> level)>;

struct WalkRequest {
  std::filesystem::path root;                 // absolute, lexically normal
  std::vector<std::filesystem::path> bounds;  // what the root and its local modules read must lie inside one of these
  // As outside of a git repository: local sources may also name directories outside of the bounds.
  bool follows_local_sources = false;
  std::string data_directory = ".terraform";  // as the manifest names it
  Documents documents = {};
  Settings settings = {};
  ClientKind tool = ClientKind::opentofu;
  VariableInputs variables = {};
  std::string workspace = "default";
  // Where modules lie that a client or install has put there. They are read side by side before the walk, which then
  // finds most of what it comes to; one that nobody calls any more is read in vain.
  std::set<std::filesystem::path> installed = {};  // absolute, lexically normal
};

// Walks module calls level by level: the root, its local modules, then packages as `visit` provides them. What a single
// call did wrong (no such local directory, a rule of ours that cannot apply, an address that cannot be parsed) is a
// diagnostic at its location and the walk goes on beside it. A module below itself, nesting over 64 levels and more
// than 200,000 calls are LIMIT_EXCEEDED. Errors: those of `visit`, cancellation, an unreadable root.
Result<ModuleTree> walk_modules(const WalkRequest& request, const VisitLevel& visit, const Context& context);

// Module rules of our settings whose key is no call of a completely walked tree: CONFIG_PARSE at the rule. It is an
// error in the file beside the root, and a note in a file above it.
Diagnostics unmatched_rules(const Settings& settings, const ModuleTree& tree);

}  // namespace modlock
