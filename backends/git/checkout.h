#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/git/repository.h"
#include "backends/package/unpack.h"

namespace modlock::git {

// A tree on disk. Its submodules are empty directories.
struct CheckedOut {
  Diagnostics warnings;
  std::vector<Submodule> submodules;
};

// The size of a package: the trees of its repository and of its submodules, which together have the limits of one
// archive. Thread-safe.
class PackageSize {
 public:
  explicit PackageSize(const UnpackLimits& limits = {}) : limits_(limits) {}

  // Adds a tree that is about to be written. Errors: LIMIT_EXCEEDED (too many files and directories, too many bytes, or
  // far more bytes than the distinct blobs have because a few blobs are named very often).
  Result<void> add(const TreeFacts& facts, const std::string& commit, std::string_view display);

 private:
  const UnpackLimits limits_;
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::uint64_t entries_ = 0;
};

// Writes the tree of a commit into `directory`, which is new or empty, as a clone without any configuration has it. The
// tree's own attributes (text, eol, ident, working-tree-encoding) apply; filters and hooks do not run. A Git LFS
// pointer stays a pointer, with a warning. `index` names a temporary file. Errors: ARCHIVE_UNSAFE with an entry that no
// package may have; LIMIT_EXCEEDED from `size`, before anything is written; IO_ERROR; TOOL_MISSING; REQUEST_CANCELLED;
// DEADLINE_EXCEEDED.
Result<CheckedOut> check_out(const Repository& repository, const std::string& commit,
                             const std::filesystem::path& directory, const std::filesystem::path& index,
                             std::string_view display, PackageSize& size, const Context& context);

// Makes a path or name of a tree quotable for messages. A long one is cut to its end, which has the file name.
std::string shown_path(std::string_view path);

// Returns the full id of the commit that is checked out in a work tree: HEAD in its `.git` directory, followed through
// one branch, loose or packed. It only reads files and does not run git, because the repository's own configuration may
// name programs. Returns nullopt if the work tree has no `.git` directory of its own (a file or a symbolic link does
// not count as one), or if HEAD does not resolve to a commit.
std::optional<std::string> checked_out_commit(const std::filesystem::path& work_tree);

}  // namespace modlock::git
