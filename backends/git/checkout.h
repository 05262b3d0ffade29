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

// A tree on disk, its submodules empty directories.
struct CheckedOut {
  Diagnostics warnings;
  std::vector<Submodule> submodules;
};

// How large a package is by the trees of its repository and of its submodules, which have the limits of one archive
// together. Thread-safe.
class PackageSize {
 public:
  explicit PackageSize(const UnpackLimits& limits = {}) : limits_(limits) {}

  // Counts a tree that is to be written. Errors: LIMIT_EXCEEDED (more files and directories, more bytes, or a few
  // blobs named so often that they are far more bytes than the blobs).
  Result<void> add(const TreeFacts& facts, const std::string& commit, std::string_view display);

 private:
  const UnpackLimits limits_;
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::uint64_t entries_ = 0;
};

// Writes the tree of a commit into `directory`, which is new or empty, as a clone without any configuration has it: the
// tree's own attributes (text, eol, ident, working-tree-encoding) apply, filters and hooks do not run. An LFS pointer
// stays one, with a warning. `index` names a file for the time being. Errors: ARCHIVE_UNSAFE naming an entry that no
// package may have; LIMIT_EXCEEDED by `size`, before anything is written; IO_ERROR; TOOL_MISSING; REQUEST_CANCELLED;
// DEADLINE_EXCEEDED.
Result<CheckedOut> check_out(const Repository& repository, const std::string& commit,
                             const std::filesystem::path& directory, const std::filesystem::path& index,
                             std::string_view display, PackageSize& size, const Context& context);

// A path or a name out of a tree as messages show it: quotable, and of a long one the end, where the name is.
std::string shown_path(std::string_view path);

// The full id of the commit that is checked out in a work tree, as its `.git` directory says: HEAD, followed through
// one branch, loose or packed. Only files are read: no git runs, for the repository's own configuration may name
// programs. nullopt: it has no `.git` directory of its own (a file or a link there is none), or what stands there names
// no commit.
std::optional<std::string> checked_out_commit(const std::filesystem::path& work_tree);

}  // namespace modlock::git
