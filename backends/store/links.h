#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/store/store.h"

namespace modlock {

// Root modules can link to packages of a store instead of copying them. The link is `<data>/modules/<key>`, its target
// the directory `tree` of the package. The store records who links, so that `cache prune` keeps these packages.

// A root module that no command has seen for this long is gone.
constexpr std::chrono::hours kUnseenRootIsGone{7 * 24};

// Returns the tree of the package in this store to which the symbolic link `place` points, even if the package does not
// exist. nullopt: not a link, or a link to anything else.
std::optional<Package> linked_package(const Store& store, const std::filesystem::path& place);

// Returns whether the files of a package are read-only.
bool is_sealed(const Package& package);
// Returns the files and directories of a package that other users may write to, with their modes.
std::vector<std::pair<std::filesystem::path, unsigned>> open_to_others(const Package& package);
// Makes the files of a package read-only: 0444, or 0555 if the owner may execute them. Its directories stay writable
// for the owner, so that the package can be removed, and for no one else. Errors: IO_ERROR; those of list_tree().
Result<void> seal(const Package& package);

// Records the packages that the root module with this data directory links to: those of its links, and `planned`
// (content_key()), to which it is about to link. The root module is then seen. Errors: IO_ERROR.
Result<void> record_links(const Store& store, const std::filesystem::path& data_directory,
                          std::set<std::string> planned = {});

// Returns the packages that root modules link to, and removes the records of those that were not seen for
// kUnseenRootIsGone. Errors: IO_ERROR.
Result<std::set<std::string>> recorded_links(const Store& store, std::filesystem::file_time_type now);

}  // namespace modlock
