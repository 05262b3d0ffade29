#pragma once

#include <optional>
#include <string_view>

#include "backends/store/store.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// Notes in the cache that `install` has installed this lock entry, under its h1. The record is outside of every root,
// so no checkout can bring one. A record that cannot be written is no error.
void record_installed(const Store& store, const ModuleLock& entry);

// Returns the entry that was installed last with this content ("h1:…"); nullopt if there is no readable record.
std::optional<ModuleLock> find_installed(const Store& store, std::string_view h1);

}  // namespace modlock
