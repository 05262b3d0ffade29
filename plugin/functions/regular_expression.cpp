#include "plugin/functions/regular_expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "backends/base/ascii.h"

namespace modlock::eval {
namespace {

// Each state of a match stores the positions of all groups: time and memory grow with the square of their number.
constexpr int kMostGroups = 250;

using GoCode = std::pair<re2::RE2::ErrorCode, const char*>;
constexpr GoCode kGoCodes[] = {{re2::RE2::ErrorBadEscape, "invalid escape sequence"},
                               {re2::RE2::ErrorBadCharClass, "invalid character class range"},
                               {re2::RE2::ErrorBadCharRange, "invalid character class range"},
                               {re2::RE2::ErrorMissingBracket, "missing closing ]"},
                               {re2::RE2::ErrorMissingParen, "missing closing )"},
                               {re2::RE2::ErrorUnexpectedParen, "unexpected )"},
                               {re2::RE2::ErrorTrailingBackslash, "trailing backslash at end of expression"},
                               {re2::RE2::ErrorRepeatArgument, "missing argument to repetition operator"},
                               {re2::RE2::ErrorRepeatSize, "invalid repeat count"},
                               {re2::RE2::ErrorRepeatOp, "invalid nested repetition operator"},
                               {re2::RE2::ErrorBadPerlOp, "invalid or unsupported Perl syntax"},
                               {re2::RE2::ErrorBadUTF8, "invalid UTF-8"},
                               {re2::RE2::ErrorBadNamedCapture, "invalid named capture"}};

std::string go_code(re2::RE2::ErrorCode code) {
  const auto* const found = std::ranges::find(kGoCodes, code, &GoCode::first);
  return found == std::end(kGoCodes) ? "expression too large" : found->second;
}

// The end of the character class that starts at `at`.
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

// The opening of a named group at the front, up to its "<"; empty if there is none.
std::string_view group_opening(std::string_view pattern) {
  return pattern.substr(0, pattern.starts_with("(?P<") ? 4 : pattern.starts_with("(?<") ? 3 : 0);
}

bool is_group_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char letter) { return letter == '_' || ascii::is_alnum(letter); });
}

// Go treats "(?<name>" as "(?P<name>", which this version of RE2 does not; Go allows only ASCII names and no "\C".
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

bool is_special(char character) {
  return std::string_view("\\.+*?()|[]{}^$-&~").find(character) != std::string_view::npos;
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::optional<std::string> translate() {
    while (at_ < pattern_.size()) {
      if (!translate_next()) {
        return std::nullopt;
      }
    }
    return depth_ == 0 ? std::optional("(?s)\\A(?:" + expression_ + ")\\z") : std::nullopt;
  }

 private:
  // Takes one character, or a backslash and the character after it. False at the end.
  bool take_literal() {
    if (pattern_.substr(at_).starts_with('\\')) {
      ++at_;
    }
    if (at_ >= pattern_.size()) {
      return false;
    }
    if (is_special(pattern_[at_])) {
      expression_ += '\\';
    }
    expression_ += pattern_[at_++];
    return true;
  }

  bool translate_next() {
    switch (pattern_[at_]) {
      case '*':
        translate_stars();
        return true;
      case '?':
        expression_ += "[^/]";
        ++at_;
        return true;
      case '[':
        return translate_class();
      case '{':
        expression_ += "(?:";
        ++depth_;
        ++at_;
        return true;
      case '}':
      case ',':
        if (depth_ > 0) {
          expression_ += pattern_[at_] == ',' ? '|' : ')';
          depth_ -= pattern_[at_] == ',' ? 0 : 1;
          ++at_;
          return true;
        }
        return take_literal();
      default:
        return take_literal();
    }
  }

  void translate_stars() {
    const bool starts_part = at_ == 0 || pattern_[at_ - 1] == '/';
    const std::size_t end = std::min(pattern_.find_first_not_of('*', at_), pattern_.size());
    const bool is_last = end == pattern_.size();
    if (starts_part && end - at_ == 2 && (is_last || pattern_[end] == '/')) {
      expression_ += is_last ? ".*" : "(?:[^/]+/)*";
      at_ = is_last ? end : end + 1;
      return;
    }
    expression_ += "[^/]*";
    at_ = end;
  }

  bool translate_class() {
    ++at_;
    expression_ += '[';
    if (at_ < pattern_.size() && (pattern_[at_] == '^' || pattern_[at_] == '!')) {
      expression_ += "^/";
      ++at_;
    }
    const std::size_t from = at_;
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (pattern_[at_] == '-' && at_ > from && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        expression_ += '-';
        ++at_;
      } else if (!take_literal()) {
        return false;
      }
    }
    if (at_ >= pattern_.size() || at_ == from) {
      return false;
    }
    expression_ += ']';
    ++at_;
    return true;
  }

  std::string_view pattern_;
  std::string expression_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

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

std::optional<std::string> regular_expression_of_glob(std::string_view pattern) {
  return Translator(pattern).translate();
}

SplitGlob split_glob(std::string_view pattern) {
  std::size_t slash = std::string_view::npos;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char character = pattern[at];
    if (character == '\\') {
      ++at;
    } else if (character == '/') {
      slash = at;
    } else if (std::string_view("*?[{").find(character) != std::string_view::npos) {
      break;
    }
  }
  if (slash == std::string_view::npos) {
    return {.base = ".", .pattern = std::string(pattern)};
  }
  return {.base = slash == 0 ? "/" : std::string(pattern.substr(0, slash)),
          .pattern = std::string(pattern.substr(slash + 1))};
}

}  // namespace modlock::eval
