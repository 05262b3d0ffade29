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

// One line of progress on stderr, rewritten in place; nothing where stderr is no terminal. It goes when the request is
// done: of several roots, when all are.
class TerminalProgress final : public Progress {
 public:
  TerminalProgress();
  ~TerminalProgress() override;
  void report(std::string_view message, std::size_t done, std::size_t total) override;
  void request_done();
  // Several roots are worked on from here on, at the same time: of each only that it is done counts.
  void count_roots(std::size_t total);
  void root_done(std::string_view root);

 private:
  void show(std::string_view text);
  void clear();

  const bool is_terminal_;
  std::mutex mutex_;
  bool shown_ = false;
  std::size_t roots_ = 0;  // that are worked on; at most one: none is counted
  std::size_t roots_done_ = 0;
  std::chrono::steady_clock::time_point started_;
};

// How long the rest will take if it goes on as it went: "about 40 s left", "about 3 min left".
std::string time_left(std::chrono::steady_clock::duration elapsed, std::size_t done, std::size_t total);

// Whether stdout is to be coloured: "always", "never", or "auto": where it is a terminal that can, and NO_COLOR is
// unset or empty.
bool wants_colour(std::string_view mode);

// Log lines on stderr; warnings and errors only.
class TerminalLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override;
};

// The path of a root as people read it: relative to the current directory if it is in or below it.
std::string shown_path(const std::string& root);

// While it exists, errors and warnings on stderr name this root. Of one thread only.
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

// "Error: …" with location, the line it points to (of `excerpts`, where given), related places, notes and what to do;
// ends with a line end.
std::string render(const Error& error, std::string_view severity = "Error", SourceExcerpts* excerpts = nullptr);

// Control characters other than line ends are escaped in both.
void print_out(std::string_view text);  // stdout
void print_err(std::string_view text);  // stderr
// As it is: JSON, and what is ours to show byte for byte.
void print_raw(std::string_view text);
// Whether everything printed on stdout has arrived.
bool flush_out();

}  // namespace modlock::cli
