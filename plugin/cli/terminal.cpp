#include "plugin/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "backends/source_text.h"
#include "protocol/utf8.h"

namespace modlock::cli {

namespace {

// Names and texts of others may hold sequences that a terminal obeys: all but line ends is shown as "\\xNN".
std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += to_valid_utf8(escape_controls(line));
    text.remove_prefix(line.size());
    if (!text.empty()) {
      out += '\n';
      text.remove_prefix(1);
    }
  }
  return out;
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

TerminalProgress::TerminalProgress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() {
  if (shown_) {
    write_stderr("\r\x1b[K");
  }
}

void TerminalProgress::report(std::string_view message, std::size_t done, std::size_t total) {
  if (!is_terminal_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  shown_ = true;
  const std::string count = total == 0 ? std::string() : fmt::format(" ({}/{})", done, total);
  write_stderr(fmt::format("\r\x1b[K{}{}", printable(message.substr(0, 100)), count));
}

void TerminalLog::write(LogLevel level, std::string_view line) {
  if (level <= LogLevel::warning) {
    print_err(fmt::format("{}: {}\n", to_string(level), line));
  }
}

std::string render(const Error& error, std::string_view heading, SourceExcerpts* excerpts) {
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
    text += fmt::format("  to do: {}\n", error.hint);
  }
  return text;
}

void print_raw(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_out(std::string_view text) {
  print_raw(printable(text));
}

void print_err(std::string_view text) {
  std::fflush(stdout);  // so that both streams, shown together, keep their order
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

bool flush_out() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace modlock::cli
