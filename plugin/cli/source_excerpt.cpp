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

// An installed module may have another version than the one that a location is in.
bool may_be_shown(std::string_view path) {
  constexpr std::array<std::string_view, 10> kSuffixes = {
      ".tf",          ".tofu",         ".tf.json",       ".tofu.json",        ".tftest.hcl",
      ".tftest.json", ".tofutest.hcl", ".tofutest.json", ".tofu-modlock.hcl", ".terraform.lock.hcl"};
  return path.find(".terraform/modules/") == std::string_view::npos &&
         std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return path.ends_with(suffix); });
}

void mask(std::string& line, std::size_t start, std::size_t end) {
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(start), line.begin() + static_cast<std::ptrdiff_t>(end), '*');
}

// Returns the end of the string that contains `at`: its quotation mark, or else the end of the line. Marks of strings
// inside its templates (`${ … "a" … }`) do not end it.
std::size_t end_of_string(std::string_view line, std::size_t at) {
  std::string open = "\"";  // what is still to be closed; a brace for a template
  for (; at < line.size(); ++at) {
    const char c = line[at];
    const bool in_string = open.back() == '"';
    if (in_string && c == '\\') {
      ++at;
    } else if (c == (in_string ? '"' : '}')) {
      open.pop_back();
      if (open.empty()) {
        return at;
      }
    } else if (c == '"') {
      open += '"';
    } else if (c == '{' && (!in_string || (at > 0 && (line[at - 1] == '$' || line[at - 1] == '%')))) {
      open += '{';
    }
  }
  return line.size();
}

// Returns whether an argument of a query is public: one that names a commit, which the lock file contains too.
bool is_harmless(std::string_view argument) {
  const std::size_t name = argument.find('=');
  if (name == std::string_view::npos || (argument.substr(0, name) != "ref" && argument.substr(0, name) != "depth")) {
    return false;
  }
  argument.remove_prefix(name + 1);
  if (argument.starts_with("${") && argument.ends_with('}')) {
    argument = argument.substr(2, argument.size() - 3);  // a reference; other expressions may hold any text
  }
  return std::all_of(argument.begin(), argument.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._-/+").find(c) != std::string_view::npos;
  });
}

// Whether a query or fragment may start at this "?", "#" or "&", and not an operator, a comment or a part of a regular
// expression.
bool may_start_query(std::string_view line, std::size_t at) {
  const auto is = [&](std::size_t place, std::string_view characters) {
    return place >= line.size() || characters.find(line[place]) != std::string_view::npos;
  };
  if (line[at] == '&') {
    return !is(at - 1, "&") && !is(at + 1, "& ");
  }
  const std::size_t before = line.find_last_of(" \t\"", at);
  const std::size_t word = before == std::string_view::npos ? 0 : before + 1;
  const bool in_address = line.substr(word, at - word).find('/') != std::string_view::npos;
  return in_address || (!is(at + 1, " \t\"") && !(at > 0 && line[at - 1] == '('));
}

void mask_queries(std::string_view line, std::string& masked) {
  constexpr std::string_view kStarts = "?#&";
  for (std::size_t at = line.find_first_of(kStarts); at < line.size(); at = line.find_first_of(kStarts, at + 1)) {
    if (!may_start_query(line, at)) {
      continue;
    }
    const std::size_t end = end_of_string(line, at);
    const std::size_t fragment = std::min(line.find('#', at), end);
    for (std::size_t start = at + 1; start < fragment;) {
      const std::size_t next = std::min(line.find('&', start), fragment);
      if (!is_harmless(line.substr(start, next - start))) {
        mask(masked, start, next);
      }
      start = next + 1;
    }
    mask(masked, std::min(fragment + 1, end), end);
    at = end;
  }
}

void mask_user_info(std::string_view line, bool cut_behind, std::size_t start, std::string& masked) {
  const std::size_t host_end = std::min(line.find_first_of("/?#\" ", start), line.size());
  // A password that should have been percent-encoded may contain any of these.
  const bool has_password = line.find(':', start) < host_end;
  const std::size_t end = has_password ? std::min(line.find('"', start), line.size()) : host_end;
  if (cut_behind && end == line.size()) {
    mask(masked, start, end);  // its "@" may be further on
  }
  const std::size_t user_info = line.rfind('@', end);
  if (user_info != std::string::npos && user_info >= start) {
    mask(masked, start, user_info);
  }
}

// Keeps the length, so that carets keep their position.
void hide_secrets(Excerpt& excerpt) {
  const std::string line = excerpt.text;
  if (excerpt.cut_before) {
    mask(excerpt.text, 0, std::min(line.find('"'), line.size()));  // it may start inside an address
  }
  mask_queries(line, excerpt.text);
  for (const std::string_view authority : {"://", R"(:\/\/)"}) {  // JSON may escape a slash
    for (std::size_t at = line.find(authority); at != std::string::npos; at = line.find(authority, at + 1)) {
      mask_user_info(line, excerpt.cut_behind, at + authority.size(), excerpt.text);
    }
  }
  // Also where they are put together.
  for (const std::string_view name : {"sshkey=", "token=", "secret=", "password="}) {
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const std::size_t start = at + name.size();
      mask(excerpt.text, start, std::min(line.find_first_of("&\" ", start), line.size()));
    }
  }
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
  const std::vector<std::string> cells = grapheme_cells(excerpt.text, start, end);
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
