#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "plugin/cli/source_excerpt.h"
#include "protocol/base/error.h"
#include "protocol/base/log.h"

namespace modlock::cli {

// One line of progress on stderr, rewritten in place; nothing if stderr is not a terminal. It is removed when the
// request is done, or with several roots when all are done.
class TerminalProgress final : public Progress {
 public:
  explicit TerminalProgress(bool is_shown = true);
  ~TerminalProgress() override;
  void report(std::string_view message, std::size_t done, std::size_t total) override;
  void request_done();
  // From now on several roots are processed in parallel; only completed roots are counted.
  void count_roots(std::size_t total);
  void root_done(std::string_view root);

 private:
  void show(std::string_view text);
  void clear();

  const bool is_terminal_;
  std::mutex mutex_;
  bool shown_ = false;
  std::size_t roots_ = 0;  // in progress; at most one: not counted
  std::size_t roots_done_ = 0;
  std::chrono::steady_clock::time_point started_;
};

// Estimates the remaining time at the current rate: "about 40 s left", "about 3 min left".
std::string time_left(std::chrono::steady_clock::duration elapsed, std::size_t done, std::size_t total);

// Returns whether stdout is colored: "always", "never", or "auto": if it is a terminal that supports color, and
// NO_COLOR is unset or empty.
bool wants_colour(std::string_view mode);

// Log lines on stderr, up to this level.
class TerminalLog final : public Log {
 public:
  explicit TerminalLog(LogLevel level = LogLevel::warning) : level_(level) {}
  void write(LogLevel level, std::string_view line) override;

 private:
  const LogLevel level_;
};

// Returns the displayed path of a root: relative to the current directory if it is in or below it.
std::string shown_path(const std::string& root);

// While an object exists, errors and warnings on stderr name this root. For one thread only.
class NamedRoot {
 public:
  explicit NamedRoot(const std::string& root);  // empty: names none
  ~NamedRoot();
  NamedRoot(const NamedRoot&) = delete;
  NamedRoot& operator=(const NamedRoot&) = delete;
};

// "Error", or "Error in live/prod" while a NamedRoot exists.
std::string heading(std::string_view severity);
// "", or "live/prod: " while a NamedRoot exists.
std::string root_prefix();

// Returns "Error: …" with location, the source line (from `excerpts`, if set), related places, notes and hint; ends
// with a newline.
std::string render(const Error& error, std::string_view severity = "Error", SourceExcerpts* excerpts = nullptr);

// Both escape control characters other than newlines.
void print_out(std::string_view text);  // stdout
void print_err(std::string_view text);  // stderr
// Prints text unchanged: JSON, and our own output that must stay byte for byte.
void print_raw(std::string_view text);
// From now on everything printed is held; release_output() prints or drops it.
void hold_output();
void release_output(bool prints);
// Returns whether everything printed on stdout was written.
bool flush_out();

}  // namespace modlock::cli
