#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "plugin/config/parsed_module.h"
#include "plugin/config/variable_values.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"

namespace modlock {

// A constraint and who wrote it.
struct ConstraintUse {
  ModuleConstraint constraint;
  std::string key;    // of the call that it constrains
  Location location;  // of the text
};

// A package on disk, and where a registry said the module lies in it.
struct LocalPackage {
  std::filesystem::path directory;  // empty: nowhere
  std::string subdir = {};
};

// One module call of the tree below a root.
struct ModuleNode {
  std::string key;  // call names from the root joined by dots; test modules as OpenTofu's modules.json names them
  ModuleCall call;
  SourceAddress address;
  std::string tag_prefix = {};
  std::vector<ConstraintUse> constraints = {};  // `version` argument first, then our settings
  std::optional<std::string> commit = {};       // where the constraint is a full commit id

  bool of_tests = false;  // called by a test file, or by a module that one calls

  // Where the package lies that the module's files belong to: for a remote module its own, for a local one its
  // caller's. Set by the visitor for remote modules; empty: not walked.
  std::filesystem::path package_directory = {};
  // Where a registry says the module lies in its package; the source's own subdirectory starts from there. Set by the
  // visitor.
  std::string package_subdir = {};
  std::filesystem::path directory = {};  // of the module's files; empty: not walked
  // As modules.json names the two, relative to the root: ".terraform/modules/vpc" and ".terraform/modules/vpc/sub".
  std::string manifest_package = {};
  std::string manifest_directory = {};

  bool is_local() const { return address.source.is_local(); }
  // Where the module lies in its package, below both subdirectories; may hold globs.
  std::string subdir() const;
  // What the lock file writes as `constraints`: all of them in order, or the commit id. Absent where there is none.
  std::optional<std::string> constraints_text() const;
  // Whether `?ref=`, `?tag=`, `?digest=` or `?rev=` in the source names the version already.
  bool is_pinned_by_source() const;
  std::string subject() const { return "module." + key; }
};

// Whether a key is `ancestor` or a call below it: "vpc.nested" is below "vpc".
bool is_below(std::string_view key, std::string_view ancestor);

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
