#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/package/tree_hash.h"
#include "backends/package/tree_scan.h"
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
// list_tree() and summarise_entries().
Result<TreeSummary> summarise_installed(const Store& store, const std::filesystem::path& package, MemoOptions options,
                                        const Context& context);

// Its h1 alone. By the same rule for directories, nothing is listed where none of them and none of the files changed: a
// directory gets another time with each entry that comes or goes. Packages with links are always listed.
Result<std::string> hash_installed(const Store& store, const std::filesystem::path& package, MemoOptions options,
                                   const Context& context);

}  // namespace modlock

// How a file below v2/trees of a store is written.
namespace modlock::tree_memo {

struct KnownDirectory {
  std::string_view name;  // relative to the package; "" is the package itself
  FileStamp stamp;
};

struct KnownFile {
  std::string_view name;
  FileStamp stamp;
  std::array<std::uint8_t, 32> sha256 = {};
};

struct Memo {
  // Of the package, where it consists of these directories and files and of nothing else; else empty, and there are no
  // directories.
  std::string_view h1 = {};
  std::vector<KnownDirectory> directories = {};
  std::vector<KnownFile> files = {};  // sorted bytewise by name
};

// Binary, and with a digest of itself at the end.
std::string write(const Memo& memo);
// The reverse. Names are part of the text, and a NUL follows each. Without anything where the text is no whole memo.
Memo read(std::string_view text);

}  // namespace modlock::tree_memo
