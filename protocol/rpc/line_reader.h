#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace modlock {

inline constexpr std::size_t kDefaultMaxMessageBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kLargestMaxMessageBytes = std::size_t{64} << 20U;

// One line that came in.
struct Frame {
  enum class Kind {
    line,       // `text`, without its line end
    too_large,  // a line over the limit was discarded
    end,        // end of input, or the input failed; every later call gives the same
  };
  Kind kind = Kind::end;
  std::string text = {};
  bool is_cut_off = false;  // the input ended before the end of the line
};

// Cuts the bytes of a file descriptor into lines. Bytes are not decoded: what is in a line is for its reader to judge.
// A line ends at LF; one CR before it is dropped; lines of nothing but spaces and tabs are skipped; a last line without
// LF counts as a line. A line of more than `max_bytes` (its end not counted) is discarded in constant memory. Neither
// owns nor closes the descriptor. Not for use from several threads.
class LineReader {
 public:
  explicit LineReader(int fd, std::size_t max_bytes = kDefaultMaxMessageBytes);

  // Waits for the next line.
  Frame read();

  // The next line that is already here, or `end` at the end; nothing where `fill` has to be called first.
  std::optional<Frame> next();

  // Reads once from the descriptor, which blocks unless there is something to read. Interruptions by signals are
  // retried; a non-blocking descriptor with nothing to read changes nothing.
  void fill();

  // Whether the line being read is over the limit already: `too_large` follows at its end, should it have one.
  bool is_discarding() const { return discarding_; }

 private:
  std::optional<Frame> take_line(std::size_t length, std::size_t consumed);

  int fd_;
  std::size_t max_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the line being read, in buffer_
  std::size_t scanned_ = 0;  // bytes of it that hold no LF
  bool discarding_ = false;
  bool ended_ = false;
};

}  // namespace modlock
