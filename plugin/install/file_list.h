#pragma once

#include <optional>
#include <string_view>

#include "backends/package/tree_hash.h"
#include "plugin/install/data_directory.h"

namespace modlock {

// The list of a package's files with their digests, kept in the data directory so that `verify` can name what differs
// without the store. Nobody has to trust it: hashed, the list is the h1.

// Errors: IO_ERROR.
Result<void> write_file_list(const DataDirectory& data, const TreeSummary& summary);

// nullopt where there is no list that gives this h1.
std::optional<TreeSummary> read_file_list(const DataDirectory& data, std::string_view h1);

}  // namespace modlock
