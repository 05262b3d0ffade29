#include "backends/package/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "backends/base/files.h"

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

namespace modlock::unpack {
namespace {

constexpr std::size_t kRead = std::size_t{128} << 10U;
constexpr std::size_t kQueuedPiece = std::size_t{256} << 10U;  // waking the reader costs as much as inflating a few KiB

}  // namespace

Result<std::string_view> DownloadStream::next() {
  MODLOCK_TRY(const auto there, source_.wait_for(at_ + 1));
  if (!file_.is_open()) {
    piece_.resize(kRead);
    file_.open(source_.path(), std::ios::binary);
  }
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(there - at_, piece_.size()));
  file_.read(piece_.data(), static_cast<std::streamsize>(size));
  if (!file_) {
    return system_failure("read", source_.path(), errno == 0 ? EIO : errno);
  }
  at_ += size;
  return std::string_view(piece_.data(), size);
}

ReadAhead::ReadAhead(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ReadAhead::~ReadAhead() = default;

void ReadAhead::run(const std::stop_token& stop) {
  std::optional<Result<void>> end;
  while (!end) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return read_ - used_ < pieces_.size(); }) || stop.stop_requested()) {
      return;
    }
    std::string& piece = pieces_[read_ % pieces_.size()];
    lock.unlock();
    end = fill(piece, stop);
    lock.lock();
    if (!piece.empty()) {
      ++read_;
    }
    end_ = end;
    changed_.notify_all();
  }
}

std::optional<Result<void>> ReadAhead::fill(std::string& piece, const std::stop_token& stop) {
  piece.clear();
  while (piece.size() < kQueuedPiece && !stop.stop_requested()) {
    const auto more = source_->next();
    if (!more || more->empty()) {
      return more ? Result<void>() : fail(more.error());
    }
    piece += *more;
  }
  return std::nullopt;
}

Result<std::string_view> ReadAhead::next() {
  std::unique_lock lock(mutex_);
  if (holds_) {
    ++used_;
    holds_ = false;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return read_ > used_ || end_; });
  if (read_ > used_) {
    holds_ = true;
    return std::string_view(pieces_[used_ % pieces_.size()]);
  }
  return *end_ ? Result<std::string_view>(std::string_view()) : fail(end_->error());
}

}  // namespace modlock::unpack
