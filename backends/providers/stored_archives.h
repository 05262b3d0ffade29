#pragma once

#include <memory>

#include "backends/providers/provider_archives.h"
#include "backends/store/store.h"

namespace modlock {

// Reads archives while they arrive (ProviderArchive), and keeps their hashes in the store (ProviderHashes): of one
// whose zh is given a machine reads the bytes once. The store outlives it.
std::unique_ptr<ProviderArchives> make_stored_archives(const Store& store);

}  // namespace modlock
