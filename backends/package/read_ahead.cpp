#include "backends/package/read_ahead.h"

namespace modlock::unpack {

ReadAhead::ReadAhead(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ReadAhead::~ReadAhead() = default;

void ReadAhead::run(const std::stop_token& stop) {
  for (;;) {
    const auto piece = source_->next();
    std::unique_lock lock(mutex_);
    if (!piece || piece->empty()) {
      end_ = piece ? Result<void>() : fail(piece.error());
      changed_.notify_all();
      return;
    }
    if (!changed_.wait(lock, stop, [&] { return read_ - used_ < pieces_.size(); })) {
      return;
    }
    lock.unlock();
    pieces_[read_ % pieces_.size()].assign(*piece);
    lock.lock();
    ++read_;
    changed_.notify_all();
  }
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
