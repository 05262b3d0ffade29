#include "plugin/functions/glob_pattern.h"

namespace modlock::eval {
namespace {

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
  // Takes one character, a backslash taking the one behind it. False at the end.
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
    std::size_t end = at_;
    while (end < pattern_.size() && pattern_[end] == '*') {
      ++end;
    }
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
