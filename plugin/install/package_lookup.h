#pragma once

#include <optional>
#include <string_view>

#include "backends/base/context.h"
#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/install/manifest.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// Where the package of a remote call lies without asking anybody: linked, installed below the data directory, or in the
// store, whole, as the lock names it. Its directory is empty where it is nowhere.
LocalPackage known_package(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                           const LockFile& lock, const Store& store, const Context& context);

// The package that the lock names for a remote call, without asking anybody: linked, in the store, or installed with
// the locked h1. If the lock has no entry of this source with an h1, what is installed. Its directory is empty if it is
// nowhere.
LocalPackage locked_package(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                            const LockFile& lock, const Store& store, const Context& context);

// What the store has of the locked package.
LocalPackage stored_package(const ModuleNode& node, const LockFile& lock, const Store& store, const Context& context);

// What is installed for a call, where it has this h1 ("h1:…") and the manifest says whose it is; nullopt otherwise.
std::optional<LocalPackage> installed_package(const ModuleNode& node, std::string_view h1, const DataDirectory& data,
                                              const Manifest& manifest, const Context& context);

}  // namespace modlock
