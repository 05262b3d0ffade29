#pragma once

#include <array>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/package/streamed_file.h"
#include "protocol/base/result.h"

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
