#pragma once

#include <string>
#include <string_view>

#include "plugin/hcl/ast.h"
#include "protocol/base/json_tokens.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// Checks that a text, which is well-formed UTF-8 without NUL, is one JSON value. The first syntax error is the error.
Result<void> check_json(std::string_view text, const std::string& path, Code error_code);

// Reads parts of a text that was checked. Each function reads what is next. Values become expression trees (see
// json_syntax.h): objects with all their members in order, every node with its range.
class JsonReader {
 public:
  // Starts with a value, not with a name.
  JsonReader(std::string_view text, Position start)
      : text_(text), tokens_(text, start.byte), next_(tokens_.next()), here_(start) {}

  Expression read();
  Range skip();            // a value, of which only the range is of interest
  Expression read_name();  // of a member
  // `for (bool more = reader.open(); more; more = reader.another())` reads the items between two brackets.
  bool open();
  bool another();

  char peek() const { return text_[next_.start]; }  // the first byte of what is next
  Range next_range() const;                         // of an object or array, that of its opening bracket
  Position here() const { return here_; }           // behind what was read

 private:
  Range take();

  std::string_view text_;
  JsonTokens tokens_;
  JsonToken next_;
  Position here_;
};

}  // namespace modlock::hcl
