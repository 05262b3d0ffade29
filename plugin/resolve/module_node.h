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

// What kinds of sources differ in where calls are resolved.

// Whether the call gets a version out of a list: it has a constraint, or comes from a registry, which offers nothing
// else.
bool chooses_version(const ModuleNode& node);

// Calls with the same text get one version, where `resolution` says so.
std::string version_group(const ModuleNode& node, Resolution resolution);

// The reference that the source names, in its own spelling: `?ref=`, `?tag=`, `?rev=`; empty: its default.
std::string named_reference(const Source& source);

// Whether a reference may move without anybody breaking a promise: a branch, HEAD, OpenTofu's default tag `latest`,
// what an external backend does not call a tag.
bool may_move(const Source& source, const std::string& ref);

// Whether a reference may give something else without anybody breaking a promise: a branch, HEAD, `latest`, and a
// partial version ("v1", "nested/v1.2"). `ref` is what Pin::ref says.
bool is_expected_to_move(const Source& source, std::string_view ref);

// Fills constraints, commit and tag_prefix of a node from its `version` argument and our settings.
// Errors: CONSTRAINT_SYNTAX; CONFIG_PARSE (a constraint on a local, archive or pinned source; a commit id beside
// another constraint). `warnings` gets CONSTRAINT_UNBOUNDED and LOCK_UNENFORCED.
Result<void> apply_constraints(ModuleNode& node, const Settings& settings, Diagnostics& warnings);

// Why a lock entry does not answer a call, in words; nullopt where it does: its source is the call's, and what the call
// asks for (constraints, a commit id) allows what it locks.
std::optional<std::string> why_not_answered(const ModuleNode& node, const ModuleLock& entry);

}  // namespace modlock
