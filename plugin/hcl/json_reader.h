#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// Reads strict JSON: all of it to check it, then its parts. Values become expression trees (see json_syntax.h): objects
// with all their members in order, every node with its range. `text` is well-formed UTF-8 without NUL.
class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& path, Code error_code, Position start = {})
      : text_(text), path_(path), error_code_(error_code), here_(start) {}

  // Reads from the start to the end of the text, keeping nothing. The first syntax error is the error.
  Result<void> check();

  // Of a text that was checked, the parts at the place of the reader, which moves behind them:
  Expression read_checked();  // a value
  Range skip_checked();       // a value, of which only the range is of interest
  Expression read_name();     // of a member, with the ":" behind it
  // `for (bool more = reader.open(); more; more = reader.another())` reads the items between two brackets.
  bool open();
  bool another();

  char peek();  // the first byte of what is next
  Position here() const { return here_; }

 private:
  struct Found {
    Range range;
    std::string name;  // "the end of the file", "\"}\""
  };

  bool at_end() const { return here_.byte == text_.size(); }
  char next() const { return at_end() ? '\0' : text_[here_.byte]; }
  Range take(std::size_t size);
  void skip_blanks();
  std::size_t word_size() const;
  Found found() const;

  tl::unexpected<Error> fail_at(const Range& range, std::string message, std::string hint = {}) const;
  tl::unexpected<Error> fail_expected(std::string_view expected, std::string hint = {}) const;
  // Like fail_expected(), but reports the opening bracket if the file ends.
  tl::unexpected<Error> fail_in_brackets(const Range& opening, std::string_view expected, std::string hint = {}) const;
  tl::unexpected<Error> fail_value(std::string_view expected) const;

  Result<Expression> read_value(std::string_view expected);
  Result<Expression> read_nested();
  Result<Expression> read_object();
  Result<ObjectItem> read_member(const Range& opening);
  Result<Expression> read_array();
  Result<bool> read_comma(const Range& opening, char close, std::string_view behind);
  Result<Expression> read_word(std::string_view expected);
  Result<Expression> read_string();
  Result<void> read_escape(std::size_t& at, JsonString& into) const;
  tl::unexpected<Error> fail_within(std::size_t at, std::size_t size, std::string message, std::string hint = {}) const;

  std::string_view text_;
  const std::string& path_;
  Code error_code_;
  Position here_;
  int depth_ = 0;
  bool checks_only_ = false;  // items are dropped once they are read
};

}  // namespace modlock::hcl
