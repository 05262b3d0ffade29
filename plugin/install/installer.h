#pragma once

#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/install/overrides.h"
#include "plugin/resolve/plan.h"
#include "protocol/messages/modules_install.h"

namespace modlock {

struct InstallRequest {
  const Plan& plan;      // made under frozen, without changes
  const LockFile& lock;  // that the plan was made from
  DataDirectory data;
  std::filesystem::path root;
  OverrideSources overridden = {};
  // Not null: packages that the store has are linked instead of copied, except those that these settings exclude.
  const Settings* links = nullptr;
  bool is_strict = false;  // a Git LFS pointer in place of its content is an error, not a warning
};

using messages::InstalledModule;

// Without what the caller knows: `unlocked` and `stats`. The diagnostics are warnings, and HASH_MISMATCH for each
// module that was restored.
using InstallReport = messages::ModulesInstallResult;

// Puts the locked packages where a stock tofu finds them: `<data>/modules/<key>` and a manifest that says exactly what
// it would have written itself. A package is copied beside its place, hashed there, and only then renamed into it; what
// was there stays if anything fails. Records and directories of sources that nobody serves are left as they lie.
// A manifest that is none, which may be somebody's work, is moved to `modules.json.broken` with a warning, and no
// directory is removed on its account.
// Content that a client fetched for Git LFS pointers stays, if the pointers prove it.
// A linked package is one symbolic link to its directory in the store, whose files become read-only. The store records
// the links first. If it cannot, or if other users may write to it, the packages are copied, with a warning.
// A module whose files were edited since this entry was installed is restored, and reported as an error: a diagnostic.
// Running again changes nothing. Errors: HASH_MISMATCH where the store's tree no longer has its h1 (the store has then
// dropped it; a new plan and installation fetch it again); SOURCE_UNSUPPORTED (is_strict); IO_ERROR; cancellation.
Result<InstallReport> install_modules(const InstallRequest& request, const Store& store, const Context& context);

}  // namespace modlock
