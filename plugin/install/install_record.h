#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "backends/package/tree_hash.h"
#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// The records of what `install` has installed: the lock entry, by its h1 ("h1:…") and its modes (hash_modes()). They
// are kept in two places. Store::installed_directory() is outside of every root, so no checkout can bring such records.
// DataDirectory::file_lists() serves if the cache is lost.

// Writes a record, if the directory can be written.
void record_installed(const std::filesystem::path& records, const ModuleLock& entry, std::string_view modes);

// Returns the entry that was installed last with this content and these modes, else one with this content and other
// modes; nullopt if there is no readable record.
std::optional<ModuleLock> find_installed(const std::filesystem::path& records, std::string_view h1,
                                         std::string_view modes);

// Whether the package at `place`, which has the h1 of the entry, also has the modes of the locked commit or archive, as
// a record says. For a commit only the records of the cache count: they prove that a branch or tag led to it. For other
// packages those of the data directory count if the cache has none with this h1, and without any record the content is
// enough where no request may be made.
bool has_locked_modes(const ModuleLock& entry, const std::filesystem::path& place, const DataDirectory& data,
                      const Store& store, const Context& context);

// Returns the source address of an entry without subdirectory and query.
std::string_view package_of(const ModuleLock& entry);

// The list of a package's files with their digests, kept in the data directory so that `verify` can name what differs
// without the store. Nobody has to trust it: hashed, the list is the h1. The records lie beside the lists.

// Errors: IO_ERROR; PATH_OUTSIDE_ROOT.
Result<void> write_file_list(const DataDirectory& data, const TreeSummary& summary);

// nullopt where there is no list that gives this h1.
std::optional<TreeSummary> read_file_list(const DataDirectory& data, std::string_view h1);

// Where in that package a registry said its module lies, "" at its top; kept beside the list for sources that
// modules.json does not name. Believed as modules.json is. Errors: IO_ERROR;
// PATH_OUTSIDE_ROOT.
Result<void> write_module_place(const DataDirectory& data, std::string_view h1, std::string_view subdir);
// nullopt where nothing was written.
std::optional<std::string> read_module_place(const DataDirectory& data, std::string_view h1);

}  // namespace modlock
