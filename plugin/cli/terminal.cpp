#include "plugin/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/environment.h"
#include "backends/base/text.h"
#include "plugin/cli/commands.h"
#include "protocol/base/utf8.h"

namespace modlock::cli {

namespace fs = std::filesystem;

namespace {

std::string printable_line(std::string_view line) {
  return to_valid_utf8(escape_controls(line));
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string painted(std::string_view text, Color color) {
  constexpr std::array kCodes = {"", "31", "32", "33", "1"};
  const std::string_view code = kCodes.at(static_cast<std::size_t>(color));
  return code.empty() ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

// Colors the severity at the start of a message: "Error: …", "Warning in live/prod: …".
std::string with_colored_heading(const std::string& text) {
  for (const auto& [word, color] : {std::pair("Error", Color::red), std::pair("Warning", Color::yellow)}) {
    const std::string_view rest =
        text.starts_with(word) ? std::string_view(text).substr(std::string_view(word).size()) : "";
    if (rest.starts_with(':') || rest.starts_with(" in ")) {
      return painted(word, color) + std::string(rest);
    }
  }
  return text;
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Returns the number of characters, each as one column.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

// Returns the byte where the character with this number starts.
std::size_t byte_of(std::string_view text, std::size_t character) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues_character(text[at]) && character-- == 0) {
      break;
    }
  }
  return at;
}

std::string cut_text(const std::string& text, std::size_t columns, bool utf8) {
  const std::string_view mark = utf8 ? "…" : "...";
  const std::size_t all = width_of(text);
  if (all <= columns) {
    return text;
  }
  const std::size_t kept = columns - width_of(mark);
  const std::size_t tail = kept / 2;
  return text.substr(0, byte_of(text, kept - tail)) + std::string(mark) + text.substr(byte_of(text, all - tail));
}

// Returns the byte of the first blank that is not within parentheses of at most `columns` bytes.
std::size_t break_of(std::string_view text, std::size_t columns) {
  const std::size_t blank = text.find(' ');
  const std::size_t open = text.find('(');
  const std::size_t close = text.find(')', open);
  if (open < blank && close != std::string_view::npos && close > blank && close - open < columns) {
    return std::min(text.find(' ', close), text.size());
  }
  return std::min(blank, text.size());
}

}  // namespace

std::string wrapped_text(std::string_view text, std::size_t first, std::size_t others, std::size_t indent,
                         Breaks breaks) {
  std::string out;
  std::size_t used = 0;
  std::size_t columns = first;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, break_of(text, breaks == Breaks::anywhere ? 0 : others));
    const std::size_t width = width_of(word);
    if (used + width > columns && (used != 0 || columns < others)) {
      while (out.ends_with(' ')) {
        out.pop_back();
      }
      out += "\n" + std::string(indent, ' ');
      columns = others;
      used = 0;
    }
    out += word;
    used += width + 1;
    text.remove_prefix(word.size());
    if (!text.empty()) {
      out += ' ';
      text.remove_prefix(1);
    }
  }
  return out;
}

namespace {

// Returns the last cell of a row, in the columns that are left after `start`.
std::string fitted(const std::string& text, std::size_t start, Fit fit, const TableStyle& style,
                   const std::string& indent) {
  constexpr std::size_t kLeast = 20;
  const std::size_t left = style.columns > start ? style.columns - start : 0;
  if (style.columns == 0 || width_of(text) <= left) {
    return text;
  }
  const bool has_room = left >= kLeast;
  const std::size_t room = has_room ? left : std::max(style.columns, kLeast - 4 + width_of(indent)) - width_of(indent);
  if (fit == Fit::cut_middle) {
    return (has_room ? "" : "\n" + indent) + cut_text(text, room, style.utf8);
  }
  return wrapped_text(text, has_room ? left : 0, room, has_room ? start : width_of(indent));
}

void write(std::FILE* stream, std::string_view text) {
  if (stream == stderr) {
    std::fflush(stdout);  // keeps the order of both streams when shown together
  }
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

constexpr std::chrono::seconds kLongDownload{2};  // also the longest pause in one

TerminalProgress::TerminalProgress(bool is_shown, bool is_terminal, Clock clock)
    : is_shown_(is_shown), is_terminal_(is_terminal), clock_(std::move(clock)), shown_at_(clock_()) {}

TerminalProgress::~TerminalProgress() {
  clear();
}

void TerminalProgress::report(std::string_view message, std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  message_ = message;
  done_ = done;
  total_ = total;
  show_action();
}

void TerminalProgress::received(std::size_t bytes) {
  constexpr std::chrono::milliseconds kRedrawn{200};
  const std::lock_guard lock(mutex_);
  const Time now = clock_();
  if (now - last_byte_ > kLongDownload) {
    first_byte_ = now;
    bytes_ = 0;
  }
  last_byte_ = now;
  bytes_ += bytes;
  if (now - first_byte_ >= kLongDownload && now - shown_at_ >= kRedrawn) {
    show_action();
  }
}

void TerminalProgress::show_action() {
  if (roots_ > 1) {
    return;
  }
  const double seconds = std::chrono::duration<double>(last_byte_ - first_byte_).count();
  const bool downloads = last_byte_ - first_byte_ >= kLongDownload && clock_() - last_byte_ <= kLongDownload;
  const auto rate = static_cast<std::uint64_t>(downloads ? static_cast<double>(bytes_) / seconds : 0);
  show(progress_text(message_ + (downloads ? fmt::format(", {}, {}/s", size_text(bytes_), size_text(rate)) : ""), done_,
                     total_, is_terminal_ ? terminal_columns(STDERR_FILENO) : 0));
}

void TerminalProgress::request_done() {
  const std::lock_guard lock(mutex_);
  if (roots_ <= 1) {
    clear();
  }
}

void TerminalProgress::count_roots(std::size_t total) {
  const std::lock_guard lock(mutex_);
  roots_ = total;
  roots_done_ = 0;
  started_ = clock_();
}

void TerminalProgress::root_done(std::string_view root) {
  const std::lock_guard lock(mutex_);
  if (roots_ <= 1) {
    return;
  }
  ++roots_done_;
  const auto elapsed = clock_() - started_;
  show(fmt::format("{} ({}/{}, {})", printable(shown_path(std::string(root)).substr(0, 100)), roots_done_, roots_,
                   time_left(elapsed, roots_done_, roots_)));
  if (roots_done_ == roots_) {
    roots_ = 0;
    clear();
  }
}

void TerminalProgress::show(std::string_view text) {
  constexpr std::chrono::seconds kBetweenLines{30};
  if (!is_shown_ || (!is_terminal_ && clock_() - shown_at_ < kBetweenLines)) {
    return;
  }
  shown_ = is_terminal_;
  shown_at_ = clock_();
  write_stderr(is_terminal_ ? fmt::format("\r\x1b[K{}", text) : fmt::format("{}\n", text));
}

void TerminalProgress::clear() {
  if (std::exchange(shown_, false)) {
    write_stderr("\r\x1b[K");
  }
}

std::string progress_text(std::string_view message, std::size_t done, std::size_t total, std::size_t columns) {
  std::string text = total == 0 ? std::string() : fmt::format("{}/{} ", std::min(done + 1, total), total);
  text += printable_line(message);
  // The last column stays free: some terminals wrap the line as soon as it is full.
  return columns == 0 ? text : cut_text(text, std::max<std::size_t>(columns, 20) - 1, has_utf8_locale());
}

std::string time_left(std::chrono::steady_clock::duration elapsed, std::size_t done, std::size_t total) {
  using Seconds = std::chrono::duration<double>;
  const double left = Seconds(elapsed).count() * static_cast<double>(total - done) / static_cast<double>(done);
  constexpr double kMinutesFrom = 100;
  return left < kMinutesFrom ? fmt::format("about {:.0f} s left", std::ceil(left))
                             : fmt::format("about {:.0f} min left", std::ceil(left / 60));
}

bool wants_colour(std::string_view mode, int descriptor) {
  if (mode != "auto") {
    return mode == "always";
  }
  const std::string terminal = environment_variable("TERM");
  return isatty(descriptor) == 1 && environment_variable("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
}

TableStyle table_style(std::string_view mode, int descriptor) {
  return {
      .columns = terminal_columns(descriptor), .colored = wants_colour(mode, descriptor), .utf8 = has_utf8_locale()};
}

bool has_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = ascii::lower(environment_variable(name));
    if (!value.empty()) {
      std::erase(value, '-');
      return value.find("utf8") != std::string::npos;
    }
  }
  return false;
}

std::string table_text(const std::vector<std::vector<Cell>>& rows, Fit fit, const TableStyle& style) {
  std::size_t count = 0;
  for (const std::vector<Cell>& row : rows) {
    count = std::max(count, row.size());
  }
  std::vector<std::size_t> widths(count);
  for (const std::vector<Cell>& row : rows) {
    for (std::size_t i = 0; i + 1 < count && i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(printable_line(row[i].text)));
    }
  }
  std::string out;
  for (const std::vector<Cell>& row : rows) {
    std::size_t start = 0;
    std::size_t blanks = 0;  // due before the next text, so that no line ends with one
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = printable_line(row[i].text);
      if (i + 1 == count) {
        text = fitted(text, start, fit, style, row[i].indent);
      }
      if (!text.empty()) {
        out += std::string(text.starts_with('\n') ? 0 : blanks, ' ') +
               painted(text, style.colored ? row[i].color : Color::none);
        blanks = 0;
      }
      const std::size_t column = widths[i] == 0 ? 0 : widths[i] + 2;
      blanks += column - std::min(column, width_of(text));
      start += column;
    }
    out += '\n';
  }
  return out;
}

void TerminalLog::write(LogLevel level, std::string_view line) {
  const auto is_new = [&] {
    const std::lock_guard lock(mutex_);
    return warnings_.emplace(line).second;
  };
  if (level <= level_ && (repeats_ || level != LogLevel::warning || is_new())) {
    // As the headings of render().
    print_.err(fmt::format("{}: {}\n", level == LogLevel::warning ? "Warning" : to_string(level), line));
  }
}

std::string shown_path(const std::string& root) {
  std::error_code error;
  const fs::path current = fs::current_path(error);
  const std::string relative = error ? "" : fs::path(root).lexically_relative(current).generic_string();
  return relative.empty() || relative.starts_with("..") ? root : relative;
}

std::string hint_text(const Hint& hint, const Hint::Words& place) {
  return hint.text([&](Hint::Words words) {
    const bool has_place =
        std::ranges::any_of(words, [](const std::string& word) { return word == "--chdir" || word == "--recursive"; });
    const std::size_t name = has_place ? 0 : words_before_chdir(words);
    // explain is for one root module
    if (name != 0 && (place.size() == 2 || words.front() != "explain")) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(name), place.begin(), place.end());
    }
    return command_text(words);
  });
}

std::string render(const Error& error, std::string_view heading, SourceExcerpts* excerpts, const Hint::Words& place) {
  std::string text = fmt::format("{}: {} [{}]\n", heading, error.message, to_string(error.code));
  if (error.location && !error.location->path.empty()) {
    text += fmt::format("  at {}{}\n", to_string(*error.location),
                        error.subject.empty() ? "" : fmt::format(" ({})", error.subject));
    text += excerpts == nullptr ? std::string() : excerpts->at(*error.location);
  }
  for (const Related& related : error.related) {
    text += related.location.path.empty() ? fmt::format("  - {}\n", related.message)
                                          : fmt::format("  - {}: {}\n", to_string(related.location), related.message);
  }
  for (const std::string& note : error.notes) {
    text += fmt::format("  note: {}\n", note);
  }
  if (!error.hint.empty()) {
    text += fmt::format("  hint: {}\n", hint_text(error.hint, place));
  }
  return text;
}

// Names and other untrusted texts may contain terminal control sequences: all except newlines are shown as "\\xNN".
std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool is_ended = text.find('\n') != std::string_view::npos;
    out += printable_line(take_line(text)) + (is_ended ? "\n" : "");
  }
  return out;
}

struct Printer::Held {
  ~Held() {
    for (const auto& [stream, text] : texts) {
      write(stream, text);
    }
  }

  std::mutex mutex;
  std::vector<std::pair<std::FILE*, std::string>> texts = {};
};

Printer Printer::holding() {
  Printer printer;
  printer.held_ = std::make_shared<Held>();
  return printer;
}

void Printer::drop() const {
  const std::lock_guard lock(held_->mutex);
  held_->texts.clear();
}

void Printer::print(std::FILE* stream, std::string_view text) const {
  if (held_ == nullptr) {
    write(stream, text);
    return;
  }
  const std::lock_guard lock(held_->mutex);
  held_->texts.emplace_back(stream, text);
}

void Printer::table_err(const std::vector<std::vector<Cell>>& rows, Fit fit) const {
  print(stderr, table_text(rows, fit, table_style("auto", STDERR_FILENO)));
}

void Printer::raw(std::string_view text) const {
  print(stdout, text);
}

void Printer::out(std::string_view text) const {
  raw(printable(text));
}

void Printer::err(std::string_view text) const {
  const std::string shown = printable(text);
  print(stderr, wants_colour("auto", STDERR_FILENO) ? with_colored_heading(shown) : shown);
}

bool flush_out() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace modlock::cli
