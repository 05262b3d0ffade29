#include "plugin/cli/source_excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "backends/files/files.h"
#include "backends/source_text.h"

namespace modlock::cli {
namespace {

constexpr std::size_t kWidest = 160;

// The line that holds the byte, without its line end; empty where it is wider than kWidest.
std::string_view line_at(std::string_view text, std::size_t byte) {
  const std::size_t from = byte > kWidest ? byte - kWidest : 0;
  const std::size_t before = text.substr(from, byte - from).rfind('\n');
  if (before == std::string_view::npos && from > 0) {
    return {};
  }
  const std::string_view rest = text.substr(before == std::string_view::npos ? 0 : from + before + 1, kWidest + 2);
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line.size() > kWidest ? std::string_view() : line;
}

bool may_be_shown(std::string_view path) {
  constexpr std::array<std::string_view, 10> kSuffixes = {
      ".tf",          ".tofu",         ".tf.json",       ".tofu.json",        ".tftest.hcl",
      ".tftest.json", ".tofutest.hcl", ".tofutest.json", ".tofu-modlock.hcl", ".terraform.lock.hcl"};
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return path.ends_with(suffix); });
}

void mask(std::string& line, std::size_t start, std::size_t end) {
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(start), line.begin() + static_cast<std::ptrdiff_t>(end), '*');
}

// Of the same length, so that carets stay where they are.
std::string without_secrets(std::string line) {
  constexpr std::string_view kAuthority = "://";
  for (std::size_t at = line.find(kAuthority); at != std::string::npos; at = line.find(kAuthority, at + 1)) {
    const std::size_t start = at + kAuthority.size();
    const std::size_t host_end = std::min(line.find_first_of("/?#\" ", start), line.size());
    // A password that should have been percent-encoded may hold any of these.
    const bool has_password = line.find(':', start) < host_end;
    const std::size_t end = has_password ? std::min(line.find('"', start), line.size()) : host_end;
    const std::size_t user_info = line.rfind('@', end);
    if (user_info != std::string::npos && user_info >= start) {
      mask(line, start, user_info);
    }
  }
  constexpr std::array<std::string_view, 4> kSecretArguments = {"sshkey=", "token=", "secret=", "password="};
  for (const std::string_view name : kSecretArguments) {
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const std::size_t start = at + name.size();
      mask(line, start, std::min(line.find_first_of("&\" ", start), line.size()));
    }
  }
  return line;
}

}  // namespace

const std::string& SourceExcerpts::text_of(const std::string& path) {
  if (path != path_) {
    path_ = path;
    text_ = read_file(std::filesystem::path(root_) / path).value_or(std::string());
  }
  return text_;
}

std::string SourceExcerpts::at(const Location& location) {
  if (!location.range || !may_be_shown(location.path)) {
    return {};
  }
  const std::string& text = text_of(location.path);
  const Range& range = *location.range;
  if (range.start.byte > text.size()) {
    return {};
  }
  const std::string_view line = line_at(text, range.start.byte);
  if (line.empty() || !is_utf8(line)) {
    return {};
  }
  const std::size_t last = range.end.line == range.start.line ? range.end.column : range.start.column + 1;
  const std::size_t carets = std::max<std::size_t>(last - range.start.column, 1);
  std::string indent;
  const std::size_t offset = range.start.byte - static_cast<std::size_t>(line.data() - text.data());
  for (const char c : line.substr(0, offset)) {
    if (c == '\t') {
      indent += '\t';
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      indent += ' ';
    }
  }
  return fmt::format("  {:>4} | {}\n       | {}{}\n", range.start.line, without_secrets(std::string(line)), indent,
                     std::string(std::min(carets, kWidest), '^'));
}

}  // namespace modlock::cli
