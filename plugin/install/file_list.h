#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/package/tree_hash.h"
#include "plugin/install/data_directory.h"

namespace modlock {

// The list of a package's files with their digests, kept in the data directory so that `verify` can name what differs
// without the store. Nobody has to trust it: hashed, the list is the h1. Beside the lists are records
// (install_record.h).

// Errors: IO_ERROR.
Result<void> write_file_list(const DataDirectory& data, const TreeSummary& summary);

// nullopt where there is no list that gives this h1.
std::optional<TreeSummary> read_file_list(const DataDirectory& data, std::string_view h1);

// Where in that package a registry said its module lies, "" at its top; kept beside the list for sources that
// modules.json does not name. Believed as modules.json is. Errors: IO_ERROR.
Result<void> write_module_place(const DataDirectory& data, std::string_view h1, std::string_view subdir);
// nullopt where nothing was written.
std::optional<std::string> read_module_place(const DataDirectory& data, std::string_view h1);

}  // namespace modlock
