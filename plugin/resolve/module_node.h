#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "plugin/config/parsed_module.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/settings.h"

namespace modlock {

class Backend;

// A constraint and its author.
struct ConstraintUse {
  ModuleConstraint constraint;
  std::string key;    // of the call that it constrains
  Location location;  // of the text
};

// A package on disk, and the location of the module in it according to the registry.
struct LocalPackage {
  std::filesystem::path directory;  // empty: not on disk
  std::string subdir = {};
};

// A module call of the tree below a root.
struct ModuleNode {
  std::string key;  // call names from the root joined by dots; test modules as in OpenTofu's modules.json
  ModuleCall call;
  SourceAddress address;
  std::string tag_prefix = {};
  std::vector<ConstraintUse> constraints = {};  // the `version` argument first, then settings of tofu-modlock
  std::optional<std::string> commit = {};       // if the constraint is a full commit id

  bool of_tests = false;  // called by a test file or by a module that a test file calls

  // The directory of the package that contains the module's files: the module's own package if it is remote, its
  // caller's if it is local. The visitor sets it for remote modules. Empty: not walked.
  std::filesystem::path package_directory = {};
  // The directory of the module in its package according to a registry. The source's own subdirectory is relative to
  // it. Set by the visitor.
  std::string package_subdir = {};
  std::filesystem::path directory = {};  // of the module's files; empty: not walked
  // The names of both directories in modules.json, relative to the root: ".terraform/modules/vpc" and
  // ".terraform/modules/vpc/sub".
  std::string manifest_package = {};
  std::string manifest_directory = {};

  bool is_local() const { return address.source.is_local(); }
  // Returns the directory of the module in its package, below both subdirectories. May contain globs.
  std::string subdir() const;
  // Returns the `constraints` of the lock file: all constraints in order, or the commit id. Empty if there are none.
  std::optional<std::string> constraints_text() const;
  // Returns whether an argument of the source (names_version()) already selects the version.
  bool is_pinned_by_source() const;
  std::string subject() const { return "module." + key; }
  // Returns an error about the call, located at its source.
  Error error(Code code, std::string message, Hint hint = {}) const;
};

// Returns whether a key is `ancestor` or a call below it: "vpc.nested" is below "vpc".
bool is_below(std::string_view key, std::string_view ancestor);
// Returns the keys of the calls that a key is below, the outermost first, and the key.
std::vector<std::string> lineage(const std::string& key);

// Differences between source types that affect how calls are resolved.

// Returns whether the version of the call is chosen from a list: the call has a constraint, or its source is a
// registry.
bool chooses_version(const ModuleNode& node);

// Returns a key for the calls that get the same version if `resolution` says so.
std::string version_group(const ModuleNode& node, Resolution resolution);

// Returns whether a reference is allowed to move: a branch, HEAD, OpenTofu's default tag `latest`, or a reference that
// an external backend does not call a tag.
bool may_move(const Source& source, const std::string& ref);

// Returns whether a reference is expected to point to something else later: a branch, HEAD, `latest`, or a partial
// version ("v1", "nested/v1.2"). `ref` is Pin::ref.
bool is_expected_to_move(const Source& source, std::string_view ref);

// Sets constraints, commit and tag_prefix of a node from its `version` argument and the settings. Errors:
// CONSTRAINT_SYNTAX; CONFIG_PARSE (a constraint on a local, archive or pinned source; a commit id together with another
// constraint). `warnings` gets CONSTRAINT_UNBOUNDED and LOCK_UNENFORCED.
Result<void> apply_constraints(ModuleNode& node, const Settings& settings, Diagnostics& warnings);

// Returns the tag prefix that the settings have for a call of a source; empty: none.
std::string settings_tag_prefix(const Settings& settings, const std::string& key, const Source& source);

// Returns the text before the versions in the tags of a call: its tag_prefix, or that of the tag that it names.
std::string tag_prefix_of(const ModuleNode& node);

// Returns the directory that the settings have in place of the package of a call; null: none.
const SourceText* replacement_of(const ModuleNode& node, const Settings& settings);

// Returns whether the settings exclude the package of a call from `install --link`.
bool is_always_copied(const ModuleNode& node, const Settings& settings);

// Returns the scheme of a hash that an entry lacks although `lock` writes it: "h1", or that of the origin, "git".
// Empty: none. `backend` is that of the source; null: no backend serves it, and only the h1 is expected.
std::string missing_hash(const ModuleLock& entry, const Source& source, const Backend* backend);

// Returns why a lock entry does not match a call. Returns nullopt if it matches: the sources are equal, and the
// constraints or commit id of the call allow the locked version.
std::optional<std::string> why_not_answered(const ModuleNode& node, const ModuleLock& entry);

}  // namespace modlock
