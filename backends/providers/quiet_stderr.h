#pragma once

#include <cstdio>

namespace modlock {

// While it lives, what libraries print to the C stream `stderr` goes nowhere. The descriptor stays as it is: what is
// written to that, and the processes that are started, are not affected. One at a time.
class QuietStderr {
 public:
  QuietStderr();
  ~QuietStderr();
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;

 private:
  std::FILE* before_;
};

}  // namespace modlock
