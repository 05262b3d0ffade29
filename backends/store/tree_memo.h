#pragma once

#include <cstddef>
#include <filesystem>

#include "backends/base/context.h"
#include "backends/package/tree_scan.h"
#include "backends/package/tree_summary.h"
#include "backends/store/store.h"
#include "protocol/base/result.h"

namespace modlock {

struct MemoOptions {
  bool full = false;        // trust no memo: hash every file, and remember that
  std::size_t threads = 1;  // to hash with
  TreeRules rules = TreeRules::module_package;
};

// summarise_tree() of an installed package that hashes only what may have changed since it was last summarised. What is
// known of its files lies below v2/trees of the store, by the absolute path of the package; it is a cache: what cannot
// be read, or was cut off, is as if absent, and failing to write it is no error.
//
// A digest is taken from there where size, inode, time of modification and time of change of the inode are those that
// the hashed file had before it was read, and both times lie before the moment at which that scan began: a file changed
// in that moment or later has another time of change, so equal stamps mean equal content (git's rule for racily clean
// entries, made stricter). Links are always read. What this does not see: a clock that was set back to the very
// nanosecond, and writes past the file system. Errors: those of summarise_tree(), by the rules of providers those of
// hash_provider_directory().
Result<TreeSummary> summarise_installed(const Store& store, const std::filesystem::path& package, MemoOptions options,
                                        const Context& context);

// Its h1 alone. By the same rule for directories, nothing is listed where none of them and none of the files changed: a
// directory gets another time with each entry that comes or goes. Packages with links are always listed.
Result<std::string> hash_installed(const Store& store, const std::filesystem::path& package, MemoOptions options,
                                   const Context& context);

}  // namespace modlock
