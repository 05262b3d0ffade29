#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/cli/source_excerpt.h"
#include "protocol/base/error.h"
#include "protocol/base/log.h"

namespace modlock::cli {

// Returns the number of columns of the terminal; without a size of its own, COLUMNS or 80. Returns 0 if the descriptor
// is not a terminal.
std::size_t terminal_columns(int descriptor = 1);

// One line of progress on stderr, rewritten in place. It is removed when the request is done, or with several roots
// when all are done. If stderr is not a terminal, a new line each 30 seconds. Downloads that take more than two seconds
// add their bytes and rate.
class TerminalProgress final : public Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  explicit TerminalProgress(bool is_shown = true, bool is_terminal = terminal_columns(2) != 0,
                            Clock clock = &std::chrono::steady_clock::now);
  ~TerminalProgress() override;
  void report(std::string_view message, std::size_t done, std::size_t total) override;
  void received(std::size_t bytes) override;
  // Removes the line, unless roots are counted.
  void request_done();
  // From now on several roots are processed in parallel; only completed roots are counted, and the remaining time is
  // estimated.
  void count_roots(std::size_t total);
  void root_done(std::string_view root);

 private:
  using Time = std::chrono::steady_clock::time_point;
  void show_action();
  void show(std::string_view text);
  void clear();

  const bool is_shown_;
  const bool is_terminal_;
  const Clock clock_;
  std::mutex mutex_;
  bool shown_ = false;
  Time shown_at_;
  std::string message_ = "downloading";
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::uint64_t bytes_ = 0;  // of downloads without a longer pause
  Time first_byte_;
  Time last_byte_;
  std::size_t roots_ = 0;  // in progress; at most one: not counted
  std::size_t roots_done_ = 0;
  Time started_;
};

// Formats a progress line of at most `columns` columns: "3/9 fetching git::https://git.example.com/network.git".
std::string progress_text(std::string_view message, std::size_t done, std::size_t total, std::size_t columns);

// Estimates the remaining time at the current rate: "about 40 s left", "about 3 min left".
std::string time_left(std::chrono::steady_clock::duration elapsed, std::size_t done, std::size_t total);

// Returns whether output to stdout, or to the given descriptor, is colored: "always", "never", or "auto": if it is a
// terminal that supports color, and NO_COLOR is unset or empty.
bool wants_colour(std::string_view mode, int descriptor = 1);

// Returns whether the locale of the environment (LC_ALL, else LC_CTYPE, else LANG) has UTF-8.
bool has_utf8_locale();

enum class Color { none, red, green, yellow, bold };

struct Cell {
  std::string text = {};  // control characters are escaped
  Color color = Color::none;
  std::string indent = "    ";  // of the next line, if the last column has no room
};

// How the last column fits into the terminal.
enum class Fit {
  cut_middle,  // the middle is cut: the end of an address is important
  wrap         // words continue on the next line, below the column; short parentheses are not broken
};

// The output that a table is for.
struct TableStyle {
  std::size_t columns = 0;  // 0: no limit
  bool colored = false;
  bool utf8 = false;
};

// Returns what the terminal of stdout, or of the given descriptor, and `mode` (wants_colour()) require.
TableStyle table_style(std::string_view mode = "auto", int descriptor = 1);

// Breaks a text at blanks into lines of at most `first`, then `others` columns, which start after `indent` blanks. A
// longer word has a line of its own.
enum class Breaks { anywhere, outside_parentheses };  // the latter: short ones stay on one line
std::string wrapped_text(std::string_view text, std::size_t first, std::size_t others, std::size_t indent,
                         Breaks breaks = Breaks::outside_parentheses);

// Formats rows as aligned columns, separated by two blanks. A row may have fewer cells than others. Only the last
// column is cut or wrapped. If less than 20 columns are left for it, it is on the next line, after four blanks.
std::string table_text(const std::vector<std::vector<Cell>>& rows, Fit fit, const TableStyle& style);
// Where a command prints: on stdout and stderr, at once. Thread-safe.
class Printer {
 public:
  // Returns one whose copies hold all texts. They are printed with the end of the last copy, unless they are dropped.
  static Printer holding();
  void drop() const;

  // Control characters other than newlines are escaped. err() colors the word before a first colon or " in " if it is a
  // severity, and stderr is a terminal.
  void out(std::string_view text) const;  // on stdout
  void err(std::string_view text) const;  // on stderr
  // Prints text on stdout unchanged: JSON, and our own output that must stay byte for byte.
  void raw(std::string_view text) const;
  // Prints a table on stderr as the terminal requires.
  void table_err(const std::vector<std::vector<Cell>>& rows, Fit fit) const;

 private:
  void print(std::FILE* stream, std::string_view text) const;

  struct Held;
  std::shared_ptr<Held> held_;  // null: prints at once
};
// Returns whether everything printed on stdout was written.
bool flush_out();

// Log lines on stderr, up to this level. Without `repeats`, the same warning is printed only once: several roots, or
// both sides of a comparison, may have it. Thread-safe.
class TerminalLog final : public Log {
 public:
  explicit TerminalLog(LogLevel level = LogLevel::warning, bool repeats = true, Printer print = {})
      : level_(level), repeats_(repeats), print_(std::move(print)) {}
  void write(LogLevel level, std::string_view line) override;

 private:
  const LogLevel level_;
  const bool repeats_;
  const Printer print_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> warnings_;
};

// Returns the displayed path of a root: relative to the current directory if it is in or below it.
std::string shown_path(const std::string& root);

// Returns the text of a hint. Its commands get the arguments in `place`, unless they name a directory or have no
// --chdir: "run: tofu-modlock lock --chdir live/prod".
std::string hint_text(const Hint& hint, const Hint::Words& place);

// Returns "Error: …" with location, the source line (from `excerpts`, if set), related places, notes and hint; ends
// with a newline.
std::string render(const Error& error, std::string_view heading = "Error", SourceExcerpts* excerpts = nullptr,
                   const Hint::Words& place = {});

// Escapes control characters other than newlines.
std::string printable(std::string_view text);

}  // namespace modlock::cli
