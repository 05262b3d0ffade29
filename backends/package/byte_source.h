#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// A file that one thread writes while others read it by its path. Waiting readers always continue, because the writer
// ends with complete() or abandon().
class StreamedFile {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  explicit StreamedFile(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  // For the writer. Written bytes become readable in large pieces, at the latest when the file is complete. Errors:
  // IO_ERROR.
  Result<void> create();
  Result<void> write(std::string_view bytes);
  Result<void> complete();
  // Alternative to the three above: the file already exists with all its bytes. Errors: IO_ERROR.
  Result<void> adopt();
  // Makes all waiting readers fail.
  void abandon();

  // For readers: waits until the file has `size` bytes or is complete, and returns its number of bytes. Errors:
  // REQUEST_CANCELLED (abandoned).
  Result<std::uint64_t> wait_for(std::uint64_t size) const;

 private:
  enum class State { arriving, complete, abandoned };

  Result<void> publish();
  Result<void> written() const;

  std::filesystem::path path_;
  std::ofstream file_;   // only for the writer
  std::string pending_;  // only for the writer
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t size_ = 0;  // guarded by the mutex, like state_
  State state_ = State::arriving;
};

}  // namespace modlock

namespace modlock::unpack {

// A stream of bytes, piece by piece.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Returns the next piece, valid until the next call; empty at the end. Must not be called again after an error.
  virtual Result<std::string_view> next() = 0;
};

// The bytes of a file that may still be arriving. Errors: IO_ERROR; those of StreamedFile::wait_for().
class DownloadStream final : public ByteSource {
 public:
  // `file` outlives the object.
  explicit DownloadStream(const StreamedFile& file) : source_(file) {}

  Result<std::string_view> next() override;

 private:
  const StreamedFile& source_;
  std::ifstream file_;
  std::uint64_t at_ = 0;
  std::vector<char> piece_;
};

// Reads another source on its own thread, a few pieces ahead of the caller. The bytes and the error at the end are the
// same; several of its pieces are joined into one.
class ReadAhead final : public ByteSource {
 public:
  explicit ReadAhead(std::unique_ptr<ByteSource> source);
  // Waits for the current call of the source to return.
  ~ReadAhead() override;

  Result<std::string_view> next() override;

 private:
  void run(const std::stop_token& stop);
  // Reads the source's next bytes. Returns how the source ended if it did.
  std::optional<Result<void>> fill(std::string& piece, const std::stop_token& stop);

  std::unique_ptr<ByteSource> source_;  // only for the thread
  std::array<std::string, 4> pieces_;   // a ring; each belongs to the thread until it is counted, then to the reader
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t read_ = 0;  // number of pieces read; guarded by the mutex, like the next members
  std::size_t used_ = 0;
  std::optional<Result<void>> end_;
  bool holds_ = false;   // the reader has the piece before used_ + 1; only for the reader
  std::jthread thread_;  // last: it uses everything else
};

}  // namespace modlock::unpack
