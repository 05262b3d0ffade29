#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/client/hcl1.h"

namespace modlock::hcl1 {

struct Token {
  enum class Kind { end, word, string, number, boolean, null, punctuation };
  Kind kind = Kind::end;
  std::string text = {};      // decoded; for punctuation the one character
  std::string_view raw = {};  // as written
  Place at = {};

  bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
};

// Splits a text into tokens; linear. `text` has no CR before LF and outlives the tokens.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view name, bool is_json) : text_(text), name_(name), is_json_(is_json) {}

  // Errors: CONFIG_PARSE for an invalid token.
  Result<Token> next();

  tl::unexpected<Error> wrong(Place at, std::string_view what) const;

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance(std::size_t bytes = 1);
  Result<void> skip_blanks();
  Result<void> skip_comment();
  Result<void> scan_string(std::string& out);
  Result<void> scan_escape(std::string& out);
  Result<void> scan_heredoc(std::string& out);
  void scan_word();
  void scan_number();

  std::string_view text_;
  std::string_view name_;
  bool is_json_;
  std::size_t at_ = 0;
  Place place_;
};

}  // namespace modlock::hcl1
