#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

namespace modlock {

// Owns a file descriptor and closes it. Move-only; -1 means none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  // Returns the number, which the caller must then close.
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (number_ >= 0) {
      ::close(std::exchange(number_, -1));
    }
  }

 private:
  int number_ = -1;
};

// Writes all bytes to a descriptor that blocks. Returns 0, or the errno of the call that failed.
int write_all(int descriptor, std::string_view bytes);

}  // namespace modlock
