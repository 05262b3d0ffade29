#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "protocol/base/result.h"

namespace modlock {

// `modlock_override.tf`: a file beside calls that write `version` on a git or OCI source, which stock releases refuse.
// It gives them the locked commit or digest as source and takes the version away (OpenTofu from 1.10 on).

// refresh: files of ours below the root that no longer match are written again; none is created.
enum class OverrideMode { leave, write, remove, refresh };

struct OverrideRequest {
  const ModuleTree& tree;
  const ModuleLocks& locks;
  const std::filesystem::path& root;
  const std::vector<std::filesystem::path>& bounds;  // files are written inside these and the root
  OverrideMode mode = OverrideMode::leave;
};

// The source that a client sees of each call that has an override, by key, as modules.json has it.
using OverrideSources = std::map<std::string, std::string, std::less<>>;

struct OverridePlan {
  struct Write {
    std::filesystem::path path;
    std::optional<std::string> text;  // absent: remove the file
    std::optional<std::string> before = {};
    std::string name = {};  // relative to the root
  };
  std::vector<Write> writes;
  std::vector<Error> left;  // with `refresh`: files outside of the root that do not match, as `leave` reports them
  OverrideSources sources;
};

// Whether a call has a version on a source that has none for stock releases: what an override file is for.
bool needs_override(const ModuleNode& node);

// Decides what has to be written, and changes nothing. Only the directories of the root and of its local modules are
// looked at: calls inside packages keep what they say. Errors:
// - CONFIG_PARSE: a file of that name that we did not write; a later override file that sets source or version; a
//   `modlock_override.tofu`, which would hide ours;
// - CONSTRAINT_CONFLICT: calls that share one block are locked to different packages;
// - PATH_OUTSIDE_ROOT; IO_ERROR; FROZEN: with `leave`, a file of ours that says something else than the lock, and a
// lock
//   entry without commit or digest.
Result<OverridePlan> plan_overrides(const OverrideRequest& request);

// Errors: IO_ERROR, also where a directory was replaced by a link since the plan. What was done until then stays.
Result<void> apply_overrides(const OverridePlan& plan);

// Takes LOCK_UNENFORCED of calls away that an override file makes a client obey. Where a file stands in the way of
// that, or leads a client elsewhere, the reason becomes such a warning; with `error` it is added as it is.
void check_override_files(const OverrideRequest& request, Diagnostics& diagnostics,
                          Severity severity = Severity::warning);
void drop_enforced(const OverridePlan& plan, Diagnostics& diagnostics);

// The source that names exactly what is locked: printable_form() with the commit or digest in place of its query, so
// that no secret gets into a file beside the configuration. Errors: FROZEN where the entry has neither.
Result<std::string> pinned_source(const ModuleNode& node, const ModuleLock& lock);

// Whether a client may have recorded this source for the call: as it is written, or where the call can have an
// override, as that gives it; what the override names is then the lock's, where one is given.
bool is_source_of(std::string_view recorded, const ModuleNode& node, const ModuleLock* lock = nullptr);

inline constexpr std::string_view kOverrideMarker =
    "# Written by tofu-modlock from the lock file. Do not edit: \"tofu-modlock install --overrides\" writes it anew.";

}  // namespace modlock
