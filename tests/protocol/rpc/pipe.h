#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace modlock::test {

// A pipe that closes what is still open.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) {
      throw std::runtime_error("pipe");
    }
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(ends_[1], bytes.data(), bytes.size());
      if (written <= 0) {
        throw std::runtime_error("write");
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // Everything up to the end.
  std::string receive_all() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }

  // One line with its LF, or what came before the end.
  std::string receive_line() {
    std::size_t end = 0;
    for (std::size_t from = 0; (end = received_.find('\n', from)) == std::string::npos;) {
      from = received_.size();
      if (!receive()) {
        return std::exchange(received_, {});
      }
    }
    std::string line = received_.substr(0, end + 1);
    received_.erase(0, end + 1);
    return line;
  }

 private:
  static void close(int& fd) {
    if (fd >= 0) {
      ::close(fd);
      fd = -1;
    }
  }

  // False at the end. Takes little at once, so that what is not read yet stays in the pipe and blocks its writer.
  bool receive() {
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(ends_[0], bytes.data(), bytes.size());
    received_.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return got > 0;
  }

  int ends_[2] = {-1, -1};
  std::string received_;  // and not returned yet
};

}  // namespace modlock::test
