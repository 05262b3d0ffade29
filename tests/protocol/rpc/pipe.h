#pragma once

#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

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
  std::string receive_all() const {
    std::string all;
    std::array<char, 65536> bytes;
    ssize_t got = 0;
    while ((got = ::read(ends_[0], bytes.data(), bytes.size())) > 0) {
      all.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

  // One line with its LF, or what came before the end.
  std::string receive_line() const {
    std::string line;
    char byte = 0;
    while (line.empty() || line.back() != '\n') {
      if (::read(ends_[0], &byte, 1) != 1) {
        break;
      }
      line.push_back(byte);
    }
    return line;
  }

 private:
  static void close(int& fd) {
    if (fd >= 0) {
      ::close(fd);
      fd = -1;
    }
  }

  int ends_[2] = {-1, -1};
};

}  // namespace modlock::test
