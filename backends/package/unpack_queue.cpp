#include "backends/package/unpack_queue.h"

#include <utility>

namespace modlock::unpack {
namespace {

constexpr std::size_t kMostUnfinished = 32;  // each is an open file

}  // namespace

bool UnpackQueue::add(PendingFile file) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return unfinished_.size() < kMostUnfinished || failure_; });
  if (failure_) {
    return false;
  }
  const FileIndex turn = oldest_ + unfinished_.size();
  unfinished_.push_back({.name = file.name});
  waiting_.emplace_back(turn, std::move(file));
  changed_.notify_all();
  return true;
}

std::optional<std::pair<UnpackQueue::FileIndex, PendingFile>> UnpackQueue::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // Files before a failed file were taken before it; files after it are not needed.
  if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); }) || is_in_vain(waiting_.front().first)) {
    return std::nullopt;
  }
  std::optional next(std::move(waiting_.front()));
  waiting_.pop_front();
  return next;
}

Result<void> UnpackQueue::grow(FileIndex turn, std::string_view name, std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (is_in_vain(turn)) {
    return fail(*failure_);
  }
  if (!rules_.check_size_limits(name, std::exchange(all_bytes_, all_bytes_ + bytes), bytes)) {
    // The limit is exceeded, but the responsible file is known only once all earlier files are finished.
    changed_.wait(lock, [&] { return oldest_ == turn || is_in_vain(turn); });
    if (is_in_vain(turn)) {
      return fail(*failure_);
    }
    MODLOCK_TRY(rules_.check_size_limits(name, bytes_before_ + unfinished_.front().bytes, bytes));
  }
  unfinished_[turn - oldest_].bytes += bytes;
  return {};
}

void UnpackQueue::finish(FileIndex turn, Result<void> outcome, FileDigests digests) {
  const std::lock_guard lock(mutex_);
  if (!outcome && !is_in_vain(turn)) {
    failed_ = turn;
    failure_ = std::move(outcome.error());
  }
  digests_.merge(digests);
  unfinished_[turn - oldest_].is_finished = true;
  count_finished();
  changed_.notify_all();
}

void UnpackQueue::count_finished() {
  while (!unfinished_.empty() && unfinished_.front().is_finished) {
    const Unfinished& file = unfinished_.front();
    // The size was within the limits when it grew, but may exceed them together with the final sizes of earlier files.
    if (auto checked = rules_.check_size_limits(file.name, bytes_before_, file.bytes);
        !checked && !is_in_vain(oldest_)) {
      failed_ = oldest_;
      failure_ = std::move(checked.error());
    }
    bytes_before_ += file.bytes;
    unfinished_.pop_front();
    ++oldest_;
  }
}

Result<FileDigests> UnpackQueue::result() {
  const std::lock_guard lock(mutex_);
  return failure_ ? Result<FileDigests>(fail(*failure_)) : std::move(digests_);
}

}  // namespace modlock::unpack
