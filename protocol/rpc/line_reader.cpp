#include "protocol/rpc/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace modlock {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

}  // namespace

LineReader::LineReader(int fd, std::size_t max_bytes)
    : fd_(fd), max_bytes_(std::min(max_bytes, kLargestMaxMessageBytes)) {}

Frame LineReader::read() {
  while (true) {
    if (std::optional<Frame> frame = next()) {
      return *std::move(frame);
    }
    pollfd waiting{fd_, POLLIN, 0};
    ::poll(&waiting, 1, -1);
    fill();
  }
}

std::optional<Frame> LineReader::next() {
  while (true) {
    const std::size_t lf = buffer_.find('\n', begin_ + scanned_);
    std::optional<Frame> frame;
    if (lf != std::string::npos) {
      frame = take_line(lf - begin_, lf - begin_ + 1);
    } else if (ended_) {
      const std::size_t rest = buffer_.size() - begin_;
      if (rest == 0 && !discarding_) {
        return Frame{};
      }
      frame = take_line(rest, rest);
      if (frame) {
        frame->is_cut_off = true;
      }
    } else {
      scanned_ = buffer_.size() - begin_;
      // One byte more than the limit may still be the CR of the line ending.
      if (discarding_ || scanned_ > max_bytes_ + 1) {
        discarding_ = true;
        buffer_.clear();
        if (buffer_.capacity() > 2 * kReadBytes) {
          buffer_.shrink_to_fit();
        }
        begin_ = 0;
        scanned_ = 0;
      }
      return std::nullopt;
    }
    if (frame) {
      return frame;
    }
  }
}

void LineReader::fill() {
  if (ended_) {
    return;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  ssize_t got = 0;
  do {
    got = ::read(fd_, buffer_.data() + before, kReadBytes);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  ended_ = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

// Returns nullopt for a blank line.
std::optional<Frame> LineReader::take_line(std::size_t length, std::size_t consumed) {
  const bool discarded = std::exchange(discarding_, false);
  std::string_view line = std::string_view(buffer_).substr(begin_, length);
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  std::optional<Frame> frame;
  if (discarded || line.size() > max_bytes_) {
    frame = Frame{.kind = Frame::Kind::too_large};
  } else if (line.find_first_not_of(" \t") != std::string_view::npos) {
    frame = Frame{.kind = Frame::Kind::line, .text = std::string(line)};
  }
  begin_ += consumed;
  scanned_ = 0;
  return frame;
}

}  // namespace modlock
