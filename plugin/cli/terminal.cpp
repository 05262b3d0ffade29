#include "plugin/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace modlock::cli {

TerminalProgress::TerminalProgress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() {
  if (shown_) {
    print_err("\r\x1b[K");
  }
}

void TerminalProgress::report(std::string_view message, std::size_t done, std::size_t total) {
  if (!is_terminal_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  shown_ = true;
  const std::string count = total == 0 ? std::string() : fmt::format(" ({}/{})", done, total);
  print_err(fmt::format("\r\x1b[K{}{}", message.substr(0, 100), count));
}

void TerminalLog::write(LogLevel level, std::string_view line) {
  if (level <= LogLevel::warning) {
    print_err(fmt::format("{}: {}\n", to_string(level), line));
  }
}

std::string render(const Error& error, std::string_view heading) {
  std::string text = fmt::format("{}: {} [{}]\n", heading, error.message, to_string(error.code));
  if (error.location && !error.location->path.empty()) {
    text += fmt::format("  at {}{}\n", to_string(*error.location),
                        error.subject.empty() ? "" : fmt::format(" ({})", error.subject));
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

std::string render(const Diagnostic& diagnostic) {
  switch (diagnostic.severity) {
    case Severity::info:
      return render(diagnostic.what, "Info");
    case Severity::warning:
      return render(diagnostic.what, "Warning");
    case Severity::error:
      break;
  }
  return render(diagnostic.what, "Error");
}

void print_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_err(std::string_view text) {
  std::fflush(stdout);  // so that both streams, shown together, keep their order
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace modlock::cli
