#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "backends/base/files.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/unpack_tree.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// A file that was created, while its content is still in the archive.
struct PendingFile {
  std::uint64_t entry = 0;  // its number in the archive
  std::string name;         // as the archive has it
  unsigned mode = 0;
  NewFile file;
};

// Distributes the files of one archive to the threads that unpack them in parallel. The result is the same as with one
// thread: sizes are checked in the archive's order, and the first failure in that order is reported. Thread-safe.
class UnpackQueue {
 public:
  // A file's place in the order.
  using FileIndex = std::uint64_t;

  explicit UnpackQueue(const Rules& rules) : rules_(rules) {}

  // For the thread that reads the archive. Waits while too many files are unfinished; returns false if one has failed.
  bool add(PendingFile file);

  // For the threads that unpack: returns the next file. Waits for one until `stop`, then returns none.
  std::optional<std::pair<FileIndex, PendingFile>> take(const std::stop_token& stop);
  // Checks `bytes` more bytes of the file before they are written. Errors: those of Rules::grow(); an arbitrary one if
  // an earlier file has failed, because the rest is not needed.
  Result<void> grow(FileIndex turn, std::string_view name, std::uint64_t bytes);
  // Must be called for every file that was taken.
  void finish(FileIndex turn, Result<void> outcome, FileDigests digests);

  // Call when no thread is running any more. Returns all digests, or the first failure.
  Result<FileDigests> result();

 private:
  struct Unfinished {
    std::string name;
    std::uint64_t bytes = 0;
    bool is_finished = false;
  };
  bool is_in_vain(FileIndex turn) const { return failure_ && failed_ < turn; }
  void count_finished();

  const Rules& rules_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::pair<FileIndex, PendingFile>> waiting_;
  std::deque<Unfinished> unfinished_;  // from oldest_ on
  FileIndex oldest_ = 0;               // all earlier files are finished
  std::uint64_t bytes_before_ = 0;     // of all earlier files
  std::uint64_t all_bytes_ = 0;
  FileIndex failed_ = 0;
  std::optional<Error> failure_;
  FileDigests digests_;
};

}  // namespace modlock::unpack
