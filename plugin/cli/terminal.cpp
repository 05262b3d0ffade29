#include "plugin/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "backends/address/source_text.h"
#include "protocol/base/utf8.h"

namespace modlock::cli {

namespace fs = std::filesystem;

namespace {

// Names and other untrusted texts may contain terminal control sequences: all except newlines are shown as "\\xNN".
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

TerminalProgress::TerminalProgress(bool is_shown) : is_terminal_(is_shown && isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() {
  clear();
}

void TerminalProgress::report(std::string_view message, std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  if (roots_ <= 1) {
    const std::string count = total == 0 ? std::string() : fmt::format(" ({}/{})", done, total);
    show(printable(message.substr(0, 100)) + count);
  }
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
  started_ = std::chrono::steady_clock::now();
}

void TerminalProgress::root_done(std::string_view root) {
  const std::lock_guard lock(mutex_);
  if (roots_ <= 1) {
    return;
  }
  ++roots_done_;
  const auto elapsed = std::chrono::steady_clock::now() - started_;
  show(fmt::format("{} ({}/{}, {})", printable(root.substr(0, 100)), roots_done_, roots_,
                   time_left(elapsed, roots_done_, roots_)));
  if (roots_done_ == roots_) {
    roots_ = 0;
    clear();
  }
}

void TerminalProgress::show(std::string_view text) {
  if (is_terminal_) {
    shown_ = true;
    write_stderr(fmt::format("\r\x1b[K{}", text));
  }
}

void TerminalProgress::clear() {
  if (std::exchange(shown_, false)) {
    write_stderr("\r\x1b[K");
  }
}

std::string time_left(std::chrono::steady_clock::duration elapsed, std::size_t done, std::size_t total) {
  using Seconds = std::chrono::duration<double>;
  const double left = Seconds(elapsed).count() * static_cast<double>(total - done) / static_cast<double>(done);
  constexpr double kMinutesFrom = 100;
  return left < kMinutesFrom ? fmt::format("about {:.0f} s left", std::ceil(left))
                             : fmt::format("about {:.0f} min left", std::ceil(left / 60));
}

bool wants_colour(std::string_view mode) {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (mode != "auto") {
    return mode == "always";
  }
  return isatty(STDOUT_FILENO) == 1 && !is_set("NO_COLOR") && is_set("TERM") &&
         std::string_view(std::getenv("TERM")) != "dumb";
}

void TerminalLog::write(LogLevel level, std::string_view line) {
  if (level <= level_) {
    print_err(fmt::format("{}: {}\n", to_string(level), line));
  }
}

namespace {

std::string& named_root() {
  static std::string root;
  return root;
}

}  // namespace

std::string shown_path(const std::string& root) {
  std::error_code error;
  const fs::path current = fs::current_path(error);
  const std::string relative = error ? "" : fs::path(root).lexically_relative(current).generic_string();
  return relative.empty() || relative.starts_with("..") ? root : relative;
}

NamedRoot::NamedRoot(const std::string& root) {
  named_root() = root.empty() ? "" : shown_path(root);
}

NamedRoot::~NamedRoot() {
  named_root().clear();
}

std::string heading(std::string_view severity) {
  return named_root().empty() ? std::string(severity) : fmt::format("{} in {}", severity, named_root());
}

std::string root_prefix() {
  return named_root().empty() ? "" : named_root() + ": ";
}

std::string render(const Error& error, std::string_view severity, SourceExcerpts* excerpts) {
  std::string text = fmt::format("{}: {} [{}]\n", heading(severity), error.message, to_string(error.code));
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

namespace {

struct HeldOutput {
  std::mutex mutex;
  bool is_on = false;
  std::vector<std::pair<std::FILE*, std::string>> texts;
};

HeldOutput& held_output() {
  static HeldOutput held;
  return held;
}

void print(std::FILE* stream, std::string_view text) {
  HeldOutput& held = held_output();
  const std::lock_guard lock(held.mutex);
  if (held.is_on) {
    held.texts.emplace_back(stream, text);
    return;
  }
  if (stream == stderr) {
    std::fflush(stdout);  // keeps the order of both streams when shown together
  }
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

void hold_output() {
  held_output().is_on = true;
}

void release_output(bool prints) {
  HeldOutput& held = held_output();
  held.is_on = false;
  for (const auto& [stream, text] : std::exchange(held.texts, {})) {
    if (prints) {
      print(stream, text);
    }
  }
}

void print_raw(std::string_view text) {
  print(stdout, text);
}

void print_out(std::string_view text) {
  print_raw(printable(text));
}

void print_err(std::string_view text) {
  print(stderr, printable(text));
}

bool flush_out() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace modlock::cli
