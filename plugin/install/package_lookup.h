#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/install/manifest.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/plan.h"
#include "protocol/base/result.h"

namespace modlock {

// The packages that one run found in the store, by the lock entries of their calls. Each is checked once.
using KnownPackages = std::map<std::string, LocalPackage>;

// Returns the package of a remote call without network access: linked, else installed below the data directory, else
// the locked package, if it is intact in the store.
LocalPackage known_package(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                           const LockFile& lock, const Store& store, KnownPackages& known, const Context& context);

// Returns the locked package of a remote call without network access: linked, else in the store, else installed with
// the locked h1. If the lock has no entry of this source with an h1, it returns known_package().
LocalPackage locked_package(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                            const LockFile& lock, const Store& store, KnownPackages& known, const Context& context);

// Returns the locked package if it is intact in the store, else an empty one.
LocalPackage stored_package(const ModuleNode& node, const LockFile& lock, const Store& store, KnownPackages& known,
                            const Context& context);

// Returns the installed package of a call if it has this h1 ("h1:…") and the manifest has its record (git sources need
// none); nullopt otherwise.
std::optional<LocalPackage> installed_package(const ModuleNode& node, std::string_view h1, const DataDirectory& data,
                                              const Manifest& manifest, const Store& store, const Context& context);

// Returns PlanFiles::find_record() for a data directory: what a client installed for a call if the record has the
// source of the call (a git source with a constraint may have any reference) and the directory exists. The version is
// that of the record and only for registry modules. The commit is the one that is checked out in the directory. If a
// client copied the directory without `.git` from that of another call, it is the commit there. `context` outlives the
// function. Errors: those of read_manifest(); IO_ERROR for a record with an invalid version.
Result<std::function<std::optional<InstalledRecord>(const ModuleNode&)>> find_installed_records(
    const DataDirectory& data, const Context& context);

}  // namespace modlock
