#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

enum class JsonKind { object, array, close, name, string, number, literal, text_end, fault };

// What is missing where a text is not JSON.
enum class JsonFault {
  none,
  value,
  name,  // or, directly behind the bracket, "}"
  colon,
  member_end,  // "," or "}"
  item_end,    // "," or "]"
  text_end,
  literal,
  integer,  // a digit in this part of a number
  fraction,
  exponent,
  character,  // or the closing quotation mark
  escape,     // the letter behind a backslash
  hex_digit,
};

struct JsonToken {
  JsonKind kind = JsonKind::fault;
  std::size_t start = 0;
  std::size_t end = 0;  // of a fault: the first byte that does not fit
  JsonFault fault = JsonFault::none;
  bool is_ascii = true;                                 // of a name or string, up to its end or fault
  std::size_t lone_surrogate = std::string_view::npos;  // there: the first escape sequence that is half of a pair

  bool is_nested() const { return kind == JsonKind::object || kind == JsonKind::array; }
  std::string_view of(std::string_view text) const { return text.substr(start, end - start); }
};

// Takes a text apart by the grammar of RFC 8259. Its reader decides what else is wrong (depth, bytes that are not
// UTF-8, surrogates, repeated names), and words the faults. Memory: one number for each open bracket.
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view text, std::size_t start = 0) : text_(text), at_(start) {}

  // Checks and skips blanks, commas and colons. After a fault the rest is undefined.
  JsonToken next();

  // The open brackets: from next() on that returns an opening one, until it returns the closing one.
  std::size_t depth() const { return open_.size(); }
  std::size_t opening() const { return open_.back(); }  // where the innermost is
  bool in_array() const { return !open_.empty() && text_[open_.back()] == '['; }

 private:
  enum class Behind { nothing, bracket, name, value };

  JsonToken token(JsonKind kind, std::size_t start) const { return {kind, start, at_}; }
  JsonToken fault(JsonFault fault, std::size_t start) const { return {JsonKind::fault, start, at_, fault}; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view any);
  bool take_digits();
  void skip_blanks();
  JsonToken read_value();
  JsonToken read_number();
  JsonToken read_string(JsonKind kind);

  std::string_view text_;
  std::size_t at_;
  Behind behind_ = Behind::nothing;
  std::vector<std::size_t> open_;
};

// Returns the literal that starts like this.
std::string_view json_literal(char first);

// Returns the text of a name or string without a fault, which includes its quotes. Half of a surrogate pair is U+FFFD.
// `shifts` gets for each escape sequence the offset behind it in the result, and how far the literal is ahead there.
std::string decode_json_string(std::string_view literal,
                               std::vector<std::pair<std::size_t, std::size_t>>* shifts = nullptr);

}  // namespace modlock
