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
constexpr std::size_t kBefore = 40;   // shown before the range in a longer line
constexpr std::size_t kReach = 2048;  // how far around the range text is read

// The part of a line around a byte.
struct Excerpt {
  std::string text;
  std::size_t at = 0;  // of the byte, in `text`
  bool cut_before = false;
  bool cut_behind = false;
};

Excerpt excerpt_at(std::string_view text, std::size_t byte) {
  std::size_t from = byte > kReach ? byte - kReach : 0;
  const std::size_t before = text.substr(from, byte - from).rfind('\n');
  const bool starts = before != std::string_view::npos || from == 0;
  from = before == std::string_view::npos ? from : from + before + 1;
  const std::string_view rest = text.substr(from, byte - from + kReach);
  const std::size_t size = std::min(rest.find('\n'), rest.size());
  Excerpt excerpt{.text = std::string(rest.substr(0, size)),
                  .at = byte - from,
                  .cut_before = !starts,
                  .cut_behind = size == rest.size() && from + size < text.size()};
  if (!excerpt.cut_behind && excerpt.text.ends_with('\r')) {
    excerpt.text.pop_back();
  }
  return excerpt;
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

void mask_user_info(Excerpt& excerpt, std::size_t start) {
  std::string& line = excerpt.text;
  const std::size_t host_end = std::min(line.find_first_of("/?#\" ", start), line.size());
  // A password that should have been percent-encoded may contain any of these.
  const bool has_password = line.find(':', start) < host_end;
  const std::size_t end = has_password ? std::min(line.find('"', start), line.size()) : host_end;
  if (excerpt.cut_behind && end == line.size()) {
    mask(line, start, end);  // its "@" may be further on
  }
  const std::size_t user_info = line.rfind('@', end);
  if (user_info != std::string::npos && user_info >= start) {
    mask(line, start, user_info);
  }
}

// Keeps the length, so that carets keep their position.
void hide_secrets(Excerpt& excerpt) {
  std::string& line = excerpt.text;
  if (excerpt.cut_before) {
    // The excerpt may start inside an address.
    const std::size_t user_info = line.rfind('@', line.find('"'));
    mask(line, 0, user_info == std::string::npos ? 0 : user_info);
  }
  constexpr std::string_view kAuthority = "://";
  for (std::size_t at = line.find(kAuthority); at != std::string::npos; at = line.find(kAuthority, at + 1)) {
    mask_user_info(excerpt, at + kAuthority.size());
  }
  constexpr std::array<std::string_view, 4> kSecretArguments = {"sshkey=", "token=", "secret=", "password="};
  for (const std::string_view name : kSecretArguments) {
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const std::size_t start = at + name.size();
      mask(line, start, std::min(line.find_first_of("&\" ", start), line.size()));
    }
  }
}

// Returns the displayed text of each character: a space for a tab, "\x1b" for a character without a visible form.
// Replaces `start` and `end` with the indexes of the characters that contain these bytes.
std::vector<std::string> cells_of(std::string_view line, std::size_t& start, std::size_t& end) {
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
        std::transform(escape.begin(), escape.end(), std::back_inserter(cells),
                       [](char letter) { return std::string(1, letter); });
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
  Excerpt excerpt = excerpt_at(text, range.start.byte);
  if (excerpt.text.empty()) {
    return {};
  }
  hide_secrets(excerpt);
  const bool one_line = range.end.line == range.start.line && range.end.byte > range.start.byte;
  std::size_t start = excerpt.at;
  std::size_t end = excerpt.at + (one_line ? range.end.byte - range.start.byte : 1);
  const std::vector<std::string> cells = cells_of(excerpt.text, start, end);
  std::size_t from = 0;
  std::size_t to = cells.size();
  if (excerpt.cut_before || excerpt.cut_behind || cells.size() > kWidest) {
    const bool at_start = !excerpt.cut_before && start < kWidest - kBefore;
    from = at_start ? 0 : start - std::min(start, kBefore);
    to = std::min(from + kWidest, cells.size());
  }
  std::string shown = from > 0 || excerpt.cut_before ? "…" : "";
  std::string indent(shown.empty() ? 0 : 1, ' ');
  for (std::size_t i = from; i < to; ++i) {
    shown += cells[i];
  }
  shown += to < cells.size() || excerpt.cut_behind ? "…" : "";
  indent.append(start - from, ' ');
  const std::size_t carets = std::max<std::size_t>(std::min(end, to) - std::min(start, to), 1);
  return fmt::format("  {:>4} | {}\n       | {}{}\n", range.start.line, shown, indent, std::string(carets, '^'));
}

}  // namespace modlock::cli
