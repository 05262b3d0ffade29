#pragma once

#include <filesystem>

#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// Where the package of a remote call lies without asking anybody: linked, installed below the data directory, or in the
// store as the lock names it. Empty where it is nowhere.
std::filesystem::path known_package(const ModuleNode& node, const DataDirectory& data, const LockFile& lock,
                                    const Store& store);

// The last of these alone: what the store has of the locked package.
std::filesystem::path stored_package(const ModuleNode& node, const LockFile& lock, const Store& store);

}  // namespace modlock
