#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace modlock {

inline constexpr std::size_t kDefaultMaxMessageBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kLargestMaxMessageBytes = std::size_t{64} << 20U;

// One line of input.
struct Frame {
  enum class Kind {
    line,       // `text`, without its line ending
    too_large,  // a line over the limit was discarded
    end,        // end of input, or a read error; every later call returns the same
  };
  Kind kind = Kind::end;
  std::string text = {};
  bool is_cut_off = false;  // the input ended before the end of the line
};

// Splits the bytes of a file descriptor into lines, without decoding them. A line ends at LF; one CR before it is
// dropped; lines of only spaces and tabs are skipped; a last line without LF counts as a line. A line of more than
// `max_bytes` (without its line ending) is discarded in constant memory. Does not own or close the descriptor. Not
// thread-safe.
class LineReader {
 public:
  explicit LineReader(int fd, std::size_t max_bytes = kDefaultMaxMessageBytes);

  // Waits for the next line.
  Frame read();

  // Returns the next buffered line, or `end` at the end; nullopt if `fill` must be called first.
  std::optional<Frame> next();

  // Reads once from the descriptor, and blocks if it is a blocking one without data. Retries after interruptions by
  // signals. Without data a non-blocking descriptor changes nothing.
  void fill();

  // Whether the current line is over the limit already: `too_large` follows at its end, if it has one.
  bool is_discarding() const { return discarding_; }

 private:
  std::optional<Frame> take_line(std::size_t length, std::size_t consumed);

  int fd_;
  std::size_t max_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;    // start of the current line in buffer_
  std::size_t scanned_ = 0;  // bytes of it that contain no LF
  bool discarding_ = false;
  bool ended_ = false;
};

}  // namespace modlock
