#include "plugin/cli/source_excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "backends/base/files.h"
#include "plugin/hcl/characters.h"

namespace modlock::cli {
namespace {

constexpr std::size_t kWidest = 160;
constexpr std::size_t kBefore = 40;     // shown before the range in a longer line
constexpr std::size_t kLongest = 4096;  // a longer line is not shown

// Returns the line that contains a byte, and replaces `byte` with its place in the line.
std::string_view line_at(std::string_view text, std::size_t& byte) {
  const std::size_t before = byte == 0 ? std::string_view::npos : text.rfind('\n', byte - 1);
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  byte -= start;
  std::string_view line = text.substr(start, text.find('\n', start + byte) - start);
  line.remove_suffix(line.ends_with('\r') ? 1 : 0);
  return line;
}

// An installed module may have another version than the one that a location is in.
bool may_be_shown(std::string_view path) {
  constexpr std::array<std::string_view, 10> kSuffixes = {
      ".tf",          ".tofu",         ".tf.json",       ".tofu.json",        ".tftest.hcl",
      ".tftest.json", ".tofutest.hcl", ".tofutest.json", ".tofu-modlock.hcl", ".terraform.lock.hcl"};
  return path.find(".terraform/modules/") == std::string_view::npos &&
         std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return path.ends_with(suffix); });
}

// Returns whether an argument of a query is public: one that selects a package, which the lock file contains too.
bool is_harmless(std::string_view argument) {
  const std::size_t name = argument.find('=');
  if (name == std::string_view::npos || !is_public_argument(argument.substr(0, name))) {
    return false;
  }
  argument.remove_prefix(name + 1);
  if (argument.starts_with("${") && argument.ends_with('}')) {
    argument = argument.substr(2, argument.size() - 3);  // a reference; other expressions may hold any text
  }
  return std::ranges::all_of(argument, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._-/+:").find(c) != std::string_view::npos;
  });
}

// Returns whether a query or fragment may start at this "?", "#" or "&", and not an operator, a comment or a part of a
// regular expression.
bool may_start_query(std::string_view line, std::size_t at) {
  const auto is = [&](std::size_t place, std::string_view characters) {
    return place >= line.size() || characters.find(line[place]) != std::string_view::npos;
  };
  if (line[at] == '&') {
    return !is(at - 1, "&") && !is(at + 1, "& ");
  }
  if (line[at] == '#' && is(at - 1, " \t")) {
    return false;  // a comment
  }
  const std::size_t before = line.find_last_of(" \t\"", at);
  const std::size_t word = before == std::string_view::npos ? 0 : before + 1;
  const bool in_address = line.substr(word, at - word).find('/') != std::string_view::npos;
  return in_address || (!is(at + 1, " \t\"") && !(at > 0 && line[at - 1] == '('));
}

// Returns whether a line may contain a secret: user-info other than that of git, an argument of a query other than a
// ref or a depth, also where an address is put together.
bool may_contain_secret(std::string_view line) {
  for (const std::string_view name : {"sshkey=", "token=", "secret=", "password="}) {
    if (line.find(name) != std::string_view::npos) {
      return true;
    }
  }
  for (const std::string_view authority : {"://", R"(:\/\/)"}) {  // JSON may escape a slash
    for (std::size_t at = line.find(authority); at != std::string_view::npos; at = line.find(authority, at + 1)) {
      std::string_view rest = line.substr(at + authority.size());
      rest.remove_prefix(rest.starts_with("git@") ? 4 : 0);
      if (rest.find('@') != std::string_view::npos) {  // a password may contain any character before it
        return true;
      }
    }
  }
  for (std::size_t at = line.find_first_of("?#&"); at < line.size(); at = line.find_first_of("?#&", at + 1)) {
    if (may_start_query(line, at) &&
        (line[at] == '#' || !is_harmless(line.substr(at + 1, line.find_first_of("?#&\"", at + 1) - at - 1)))) {
      return true;
    }
  }
  return false;
}

// Returns the displayed text of each character: a space for a tab, "\x1b" for a character without a visible form.
// Replaces `start` and `end` with the indexes of the characters that contain these bytes.
std::vector<std::string> grapheme_cells(std::string_view line, std::size_t& start, std::size_t& end) {
  std::vector<std::string> cells;
  std::size_t first = std::string_view::npos;
  std::size_t last = std::string_view::npos;
  for (std::size_t i = 0; i < line.size();) {
    const auto character = hcl::decode_utf8(line, i);
    const std::size_t size = character ? std::max<std::size_t>(character->size, 1) : 1;
    first = first == std::string_view::npos && i + size > start ? cells.size() : first;
    last = last == std::string_view::npos && i >= end ? cells.size() : last;
    if (line[i] == '\t') {
      cells.emplace_back(" ");
    } else if (character && character->value >= ' ' && (character->value < 0x7F || character->value > 0x9F)) {
      cells.emplace_back(line.substr(i, size));
    } else {
      for (const char c : line.substr(i, size)) {
        const std::string escape = fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        std::ranges::transform(escape, std::back_inserter(cells), [](char letter) { return std::string(1, letter); });
      }
    }
    i += size;
  }
  start = std::min(first, cells.size());
  end = std::min(last, cells.size());
  return cells;
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
  if (text.empty() || range.start.byte > text.size()) {
    return {};
  }
  std::size_t start = range.start.byte;
  const std::string_view line = line_at(text, start);
  if (line.empty() || line.size() > kLongest || may_contain_secret(line)) {
    return {};
  }
  const bool one_line = range.end.line == range.start.line && range.end.byte > range.start.byte;
  std::size_t end = start + (one_line ? range.end.byte - range.start.byte : 1);
  const std::vector<std::string> cells = grapheme_cells(line, start, end);
  std::size_t from = 0;
  std::size_t to = cells.size();
  if (cells.size() > kWidest) {
    from = start < kWidest - kBefore ? 0 : start - std::min(start, kBefore);
    to = std::min(from + kWidest, cells.size());
  }
  std::string shown = from > 0 ? "…" : "";
  std::string indent(shown.empty() ? 0 : 1, ' ');
  for (std::size_t i = from; i < to; ++i) {
    shown += cells[i];
  }
  shown += to < cells.size() ? "…" : "";
  indent.append(start - from, ' ');
  const std::size_t carets = std::max<std::size_t>(std::min(end, to) - std::min(start, to), 1);
  return fmt::format("  {:>4} | {}\n       | {}{}\n", range.start.line, shown, indent, std::string(carets, '^'));
}

}  // namespace modlock::cli
