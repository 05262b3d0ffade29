#pragma once

#include <functional>
#include <memory>

namespace modlock {

// A thread that starts on another processor than its maker's and may run on any from then on. A kernel that keeps short
// threads where they were made would let it wait until its maker waits. Joined at its end. Where the system gives no
// thread, nothing runs.
class HelperThread {
 public:
  explicit HelperThread(std::function<void()> work);
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;
  ~HelperThread();

 private:
  struct Started;
  std::unique_ptr<Started> started_;
};

}  // namespace modlock
