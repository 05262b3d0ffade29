#include "protocol/rpc/wakeup.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace modlock {

Wakeup::Wakeup() {
  if (::pipe(ends_) != 0) {
    // Without descriptors there is nothing to serve with; main has the door that catches this.
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  for (const int end : ends_) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
}

Wakeup::~Wakeup() {
  ::close(ends_[0]);
  ::close(ends_[1]);
}

void Wakeup::notify() const {
  // A full pipe is notification enough.
  [[maybe_unused]] const ssize_t written = ::write(ends_[1], "", 1);
}

void Wakeup::clear() const {
  std::array<char, 64> bytes{};
  while (::read(ends_[0], bytes.data(), bytes.size()) > 0) {
  }
}

}  // namespace modlock
