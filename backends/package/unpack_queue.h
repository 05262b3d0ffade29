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

// A file that is made, and whose content is still in the archive.
struct PendingFile {
  std::uint64_t entry = 0;  // its number in the archive
  std::string name;         // as the archive has it
  unsigned mode = 0;
  NewFile file;
};

// The files of one archive on their way to the threads that unpack them, several at once. What comes of it is what one
// thread would come to that takes them one by one: sizes are judged in the archive's order, and of several failures the
// first in that order is the one. Thread-safe.
class UnpackQueue {
 public:
  // A file's place in the order.
  using FileIndex = std::uint64_t;

  explicit UnpackQueue(const Rules& rules) : rules_(rules) {}

  // For the thread that walks the archive. Waits while too many files are unfinished; false: one has failed.
  bool add(PendingFile file);

  // For the threads that unpack: the next file. Waits for one until `stop`, and then for none.
  std::optional<std::pair<FileIndex, PendingFile>> take(const std::stop_token& stop);
  // Judges as many more bytes of the file before they are written. Errors: those of Rules::grow(); any one where an
  // earlier file has failed, so that the rest is in vain.
  Result<void> grow(FileIndex turn, std::string_view name, std::uint64_t bytes);
  // Every file that was taken ends by this.
  void finish(FileIndex turn, Result<void> outcome, FileDigests digests);

  // Once no thread is at work: all digests, or the first failure.
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
  FileIndex oldest_ = 0;               // what is before is finished
  std::uint64_t bytes_before_ = 0;     // of what is before
  std::uint64_t all_bytes_ = 0;
  FileIndex failed_ = 0;
  std::optional<Error> failure_;
  FileDigests digests_;
};

}  // namespace modlock::unpack
