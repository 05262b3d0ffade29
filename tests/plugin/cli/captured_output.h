#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

#include "tests/support/temporary_directory.h"

namespace modlock::test {

// While an object exists, what this process writes to one of its standard streams goes to a file.
class CapturedStream {
 public:
  explicit CapturedStream(std::FILE* stream) : stream_(stream), before_(dup(fileno(stream))) {
    std::fflush(stream_);
    const int file = open((directory_ / "text").c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    BOOST_TEST_REQUIRE((before_ >= 0 && file >= 0));
    dup2(file, fileno(stream_));
    close(file);
  }
  ~CapturedStream() {
    std::fflush(stream_);
    dup2(before_, fileno(stream_));
    close(before_);
  }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;

  std::string text() const {
    std::fflush(stream_);
    return read_text(directory_ / "text");
  }

 private:
  TemporaryDirectory directory_;
  std::FILE* stream_;
  int before_;
};

struct Printed {
  std::string out;
  std::string err;
};

// What `print` writes.
template <typename Print>
Printed printed_by(const Print& print) {
  const CapturedStream out(stdout);
  const CapturedStream err(stderr);
  print();
  return {out.text(), err.text()};
}

}  // namespace modlock::test
