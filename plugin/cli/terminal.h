#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "plugin/cli/source_excerpt.h"
#include "protocol/error.h"
#include "protocol/log.h"

namespace modlock::cli {

// One line of progress on stderr, rewritten in place; nothing where stderr is no terminal. The destructor clears it.
class TerminalProgress final : public Progress {
 public:
  TerminalProgress();
  ~TerminalProgress() override;
  void report(std::string_view message, std::size_t done, std::size_t total) override;

 private:
  const bool is_terminal_;
  std::mutex mutex_;
  bool shown_ = false;
};

// Log lines on stderr; warnings and errors only.
class TerminalLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override;
};

// "Error: …" with location, the line it points to (of `excerpts`, where given), related places, notes and what to do;
// ends with a line end.
std::string render(const Error& error, std::string_view heading = "Error", SourceExcerpts* excerpts = nullptr);

// Control characters other than line ends are escaped in both.
void print_out(std::string_view text);  // stdout
void print_err(std::string_view text);  // stderr
// As it is: JSON, and what is ours to show byte for byte.
void print_raw(std::string_view text);
// Whether everything printed on stdout has arrived.
bool flush_out();

}  // namespace modlock::cli
