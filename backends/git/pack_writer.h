#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock::git {

// The prefix of the names of directories in a repository where packs are written.
constexpr std::string_view kArriving = "arriving-";

// A pack that is being written into a bare repository. libgit2 hashes each object while the bytes arrive and writes
// them to disk at once, so memory does not grow with the pack. Nothing is visible before finish(), and without finish()
// nothing is left, except a directory `arriving-…` of a process that was killed.
class PackWriter {
 public:
  explicit PackWriter(const std::filesystem::path& repository);
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  // Discards the appended bytes. Errors, here and below: BAD_RESPONSE with libgit2's text, also for a full disk.
  Result<void> restart();
  Result<void> append(std::string_view bytes);
  // The appended bytes must be a complete pack that needs no object outside itself. It is on disk before it becomes
  // visible, so a repository never has a partial pack, even after a crash. Errors: also IO_ERROR if it cannot be
  // flushed or moved.
  Result<void> finish();

 private:
  struct Indexer;
  std::filesystem::path packs_;
  std::filesystem::path arriving_;    // next to them: the files that libgit2 writes
  std::unique_ptr<Indexer> indexer_;  // null before the first byte and after the last
};

}  // namespace modlock::git
