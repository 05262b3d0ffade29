#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// Reads strict JSON as an expression tree (see json_syntax.h): objects with all their members in order, every node with
// its range. Reading ends at the first syntax error. `text` is well-formed UTF-8 without NUL.
class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& path, Code error_code)
      : text_(text), path_(path), error_code_(error_code) {}

  Result<Expression> read();

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
};

}  // namespace modlock::hcl
