#include "backends/package/streamed_file.h"

#include <cerrno>
#include <system_error>

#include "backends/base/files.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::size_t kWritePiece = std::size_t{128} << 10U;

}  // namespace

Result<void> StreamedFile::create() {
  file_.open(path_, std::ios::binary | std::ios::trunc);
  return written();
}

Result<void> StreamedFile::write(std::string_view bytes) {
  pending_ += bytes;
  return pending_.size() < kWritePiece ? Result<void>() : publish();
}

Result<void> StreamedFile::publish() {
  file_.write(pending_.data(), static_cast<std::streamsize>(pending_.size()));
  file_.flush();  // readers open the file separately
  MODLOCK_TRY(written());
  const std::lock_guard lock(mutex_);
  size_ += pending_.size();
  pending_.clear();
  changed_.notify_all();
  return {};
}

Result<void> StreamedFile::complete() {
  MODLOCK_TRY(publish());
  file_.close();
  const std::lock_guard lock(mutex_);
  state_ = State::complete;
  changed_.notify_all();
  return {};
}

Result<void> StreamedFile::adopt() {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path_, error);
  if (error) {
    return system_failure("read", path_, error.value());
  }
  const std::lock_guard lock(mutex_);
  size_ = size;
  state_ = State::complete;
  return {};
}

void StreamedFile::abandon() {
  const std::lock_guard lock(mutex_);
  state_ = State::abandoned;
  changed_.notify_all();
}

Result<std::uint64_t> StreamedFile::wait_for(std::uint64_t size) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return size_ >= size || state_ != State::arriving; });
  if (state_ == State::abandoned) {
    return fail(Code::request_cancelled, "the download was abandoned");
  }
  return size_;
}

Result<void> StreamedFile::written() const {
  return file_.fail() ? system_failure("write", path_, errno) : Result<void>();
}

}  // namespace modlock
