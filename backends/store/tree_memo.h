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
  bool full = false;        // ignore existing memos: hash every file, and write a new memo
  std::size_t threads = 1;  // to hash with
  TreeRules rules = TreeRules::module_package;
  std::string_view modes = {};  // of a package in the store: hash_modes() of its tree; empty: any
};

// Like summarise_tree() for an installed package, but hashes only files that may have changed since the last summary.
// The known digests are below v2/trees of the store, by the absolute path of the package. This is a cache: unreadable
// or truncated memos are treated as absent, and a failure to write is no error.
//
// A known digest is used if size, inode, modification time and inode change time are those that the hashed file had
// before it was read, and if both times are before the start of that scan. A file that changes at that moment or later
// gets another change time, so equal stamps mean equal content (git's rule for racily clean entries, made stricter).
// Links are always read. Not detected: a clock that was set back to the exact nanosecond, and
// writes that bypass the file system. Errors: HASH_MISMATCH for other modes; those of summarise_tree(); by the rules of
// providers those of list_tree() and summarise_entries().
Result<TreeSummary> summarise_installed(const Store& store, const std::filesystem::path& package, MemoOptions options,
                                        const Context& context);

// Returns only the h1. If no directory and no file changed by the same rule, nothing is listed, because a directory's
// times change with each entry that is added or removed. Packages with links are always listed.
Result<std::string> hash_installed(const Store& store, const std::filesystem::path& package, MemoOptions options,
                                   const Context& context);

}  // namespace modlock

// The format of a file below v2/trees of a store.
namespace modlock::tree_memo {

struct KnownFile {
  std::string_view name;
  FileStamp stamp;
  std::array<std::uint8_t, 32> sha256 = {};
};

struct Memo {
  // The h1 of the package if it consists only of these directories and files; else empty, and `directories` is empty.
  std::string_view h1 = {};
  std::vector<ScannedDirectory> directories = {};
  std::vector<KnownFile> files = {};  // sorted bytewise by name
};

// Returns a binary text that ends with its own digest.
std::string write(const Memo& memo);
// The reverse of write(). The names of files point into the text, where a NUL follows each. Returns an empty memo if
// the text is not a complete memo.
Memo read(std::string_view text);

}  // namespace modlock::tree_memo
