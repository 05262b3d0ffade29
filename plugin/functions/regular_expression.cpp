#include "plugin/functions/regular_expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

namespace modlock::eval {
namespace {

// Each state of a match keeps the places of all groups: time and memory grow with their number squared.
constexpr int kMostGroups = 250;

std::string go_code(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

// Where a character class ends that starts at `at`.
std::size_t class_end(std::string_view pattern, std::size_t at) {
  ++at;
  for (const char first : {'^', ']'}) {
    if (pattern.substr(at).starts_with(first)) {
      ++at;
    }
  }
  while (at < pattern.size() && pattern[at] != ']') {
    const bool is_named = pattern.substr(at).starts_with("[:");
    const std::size_t named_end = is_named ? pattern.find(":]", at + 2) : std::string_view::npos;
    at = named_end != std::string_view::npos ? named_end + 2 : at + (pattern[at] == '\\' ? 2 : 1);
  }
  return std::min(at + 1, pattern.size());
}

// The opening of a named group at the front, up to its "<"; empty where there is none.
std::string_view group_opening(std::string_view pattern) {
  return pattern.substr(0, pattern.starts_with("(?P<") ? 4 : pattern.starts_with("(?<") ? 3 : 0);
}

bool is_group_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
    return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
  });
}

// Go takes "(?<name>" for "(?P<name>", which RE2 of this age does not, only names of ASCII, and no "\C".
tl::expected<std::string, PatternError> in_syntax_of_re2(std::string_view pattern) {
  std::string translated;
  for (std::size_t at = 0; at < pattern.size();) {
    std::size_t end = at + 1;
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("\\C")) {
      return tl::unexpected(PatternError{go_code(re2::RE2::ErrorBadEscape), "\\C"});
    }
    if (rest.starts_with("\\Q")) {
      const std::size_t quoted_end = pattern.find("\\E", at + 2);
      end = quoted_end == std::string_view::npos ? pattern.size() : quoted_end + 2;
    } else if (rest.starts_with('\\')) {
      end = std::min(at + 2, pattern.size());
    } else if (rest.starts_with('[')) {
      end = class_end(pattern, at);
    } else if (const std::string_view opening = group_opening(rest); !opening.empty()) {
      const std::size_t size = std::min(rest.find('>'), rest.size() - 1) + 1;
      const std::string_view name = rest.substr(opening.size(), size - opening.size() - 1);
      if (!rest.substr(0, size).ends_with('>') || !is_group_name(name)) {
        return tl::unexpected(PatternError{go_code(re2::RE2::ErrorBadNamedCapture), std::string(rest.substr(0, size))});
      }
      translated += "(?P<";
      at += opening.size();
      end = at + name.size() + 1;
    }
    translated += pattern.substr(at, end - at);
    at = end;
  }
  return translated;
}

}  // namespace

RegularExpression::RegularExpression(std::shared_ptr<const re2::RE2> compiled)
    : compiled_(std::move(compiled)), names_(static_cast<std::size_t>(compiled_->NumberOfCapturingGroups())) {
  for (const auto& [group, name] : compiled_->CapturingGroupNames()) {
    names_[static_cast<std::size_t>(group) - 1] = name;
  }
}

tl::expected<RegularExpression, PatternError> RegularExpression::compile(std::string_view pattern) {
  const auto translated = in_syntax_of_re2(pattern);
  if (!translated) {
    return tl::unexpected(translated.error());
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(*translated, options);
  if (!compiled->ok()) {
    return tl::unexpected(PatternError{go_code(compiled->error_code()), compiled->error_arg()});
  }
  if (compiled->NumberOfCapturingGroups() > kMostGroups) {
    return tl::unexpected(PatternError{fmt::format("more than {} groups", kMostGroups), "(…"});
  }
  return RegularExpression(std::move(compiled));
}

std::size_t RegularExpression::group_count() const {
  return names_.size();
}

std::optional<RegularExpression::Match> RegularExpression::find(std::string_view text, std::size_t from) const {
  std::vector<re2::StringPiece> pieces(names_.size() + 1);
  if (!compiled_->Match(re2::StringPiece(text.data(), text.size()), from, text.size(), re2::RE2::UNANCHORED,
                        pieces.data(), static_cast<int>(pieces.size()))) {
    return std::nullopt;
  }
  Match match;
  match.reserve(pieces.size());
  for (const re2::StringPiece& piece : pieces) {
    match.emplace_back(piece.data(), piece.size());
  }
  return match;
}

}  // namespace modlock::eval
