#pragma once

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/descriptor.h"
#include "backends/base/started_child.h"
#include "protocol/base/result.h"
#include "protocol/rpc/line_reader.h"
#include "protocol/rpc/line_writer.h"

namespace modlock::external {

inline constexpr std::size_t kLongestAnswer = kDefaultMaxMessageBytes;
inline constexpr std::size_t kLongestWords = std::size_t{16} << 10U;

// Receives the events of a child, on the thread that serves it. `on_end` is the last call.
class ChildListener {
 public:
  // A line of its stdout, or the notice that a line exceeded kLongestAnswer.
  virtual void on_line(const Frame& frame) = 0;
  // A line of its stderr. Lines longer than kLongestWords are skipped.
  virtual void on_words(const std::string& line) = 0;
  // It exceeded its limits and is being ended: LIMIT_EXCEEDED ("it used more than …").
  virtual void on_excess(Error why) = 0;
  // The child and the rest of its process group have ended: "exit code 3" (128 + n for signal n), "it closed its
  // stdout", "it closed its stdin".
  virtual void on_end(const std::string& how) = 0;

 protected:
  ~ChildListener() = default;
};

// A long-running process that communicates in lines. It has its own process group, no controlling terminal, the working
// directory "/" and our environment. Both output streams are always read and writes are queued, so neither side can
// block the other. Members may be called from any thread.
class Child {
 public:
  // The child may use the memory of `limits` and write files of that size; the times in `limits` do not apply.
  // `listener` must outlive the child, and may be called before this returns. Errors: TOOL_MISSING, IO_ERROR.
  static Result<std::unique_ptr<Child>> start(std::vector<std::string> command, const ChildLimits& limits,
                                              ChildListener& listener);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void write(std::string line) { writer_.write(std::move(line)); }
  // Sends SIGTERM to the group, and kills it two seconds later. Returns at once.
  void request_end();
  // As `request_end`, but waits until the group has ended. Must not be called from the listener.
  void end();

 private:
  Child(StartedChild process, const ChildLimits& limits, Descriptor wake, ChildListener& listener);
  void attend();
  bool pass_on_words(LineReader& words);
  bool pass_on_answers(LineReader& answers);
  bool wait(bool words_are_open);
  bool ends_soon();
  bool exceeds_memory();

  StartedChild process_;
  const ChildLimits limits_;
  std::chrono::steady_clock::time_point measured_ = {};
  Descriptor wake_;
  ChildListener& listener_;
  std::atomic<bool> is_ending_{false};
  std::latch gone_{1};
  LineWriter writer_;
  std::thread thread_;
};

}  // namespace modlock::external
