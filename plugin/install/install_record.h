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
// are kept in two places. Store::installed_directories() are outside of every root, so no checkout can contain them.
// DataDirectory::file_lists() is used if the cache is lost.

// Writes a record, if the directory can be written.
void record_installed(const std::filesystem::path& records, const ModuleLock& entry, std::string_view modes);

// Returns whether a record has this entry with these modes: its version, origin and package.
bool is_recorded(const std::filesystem::path& records, const ModuleLock& entry, std::string_view modes);

// Returns the entry that was last installed with this content and these modes, else one with this content and other
// modes; nullopt if there is no readable record.
std::optional<ModuleLock> find_installed(const Store& store, std::string_view h1, std::string_view modes);

// Returns whether a record proves that the package at `place`, which has the h1 of the entry, also has the modes of the
// locked commit or archive. For a commit only the records of the cache are used: they prove that it was reachable from
// a branch or tag. For other packages the records of the data directory are used if the cache has none with this h1. If
// neither has one, the result is true only in offline mode.
bool has_locked_modes(const ModuleLock& entry, const std::filesystem::path& place, const DataDirectory& data,
                      const Store& store, const Context& context);

// What `install` put in a place of packages instead of the locked one. The record is in the store, so no checkout has
// it.
struct PlacedCopy {
  std::string h1 = {};                   // of the copy; empty: there is no record
  std::filesystem::path directory = {};  // of which it is a copy; absolute
};
// Writes the record of a place, if the store can be written, or removes it if it is empty.
void record_copy(const Store& store, const std::filesystem::path& place, const PlacedCopy& copy);
PlacedCopy find_copy(const Store& store, const std::filesystem::path& place);

// Returns the source address of an entry without subdirectory and query.
std::string_view package_of(const ModuleLock& entry);

// The list of a package's files with their digests, kept in the data directory so that `verify` can name the differing
// files without the store. It need not be trusted, because its hash is the h1. The records are next to the lists.

// Errors: IO_ERROR; PATH_OUTSIDE_ROOT.
Result<void> write_file_list(const DataDirectory& data, const TreeSummary& summary);

// Returns nullopt if there is no list with this h1.
std::optional<TreeSummary> read_file_list(const DataDirectory& data, std::string_view h1);

// Where in that package a registry said its module lies, "" at its top; kept beside the list for sources that
// modules.json does not name. Believed as modules.json is. Errors: IO_ERROR;
// PATH_OUTSIDE_ROOT.
Result<void> write_module_place(const DataDirectory& data, std::string_view h1, std::string_view subdir);
// Returns nullopt if none was written.
std::optional<std::string> read_module_place(const DataDirectory& data, std::string_view h1);

}  // namespace modlock
