#include "plugin/hcl/json_reader.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"

namespace modlock::hcl {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Words are taken whole, so that they can be reported whole: "01", "1.2.3", "True", "-Infinity".
bool is_in_word(char c) {
  return is_digit(c) || is_letter(c) || c == '-' || c == '+' || c == '.' || c == '_';
}

// Takes digits away and says how many there were.
std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool is_number(std::string_view text) {
  take_one_of(text, "-");
  if (!take_one_of(text, "0") && take_digits(text) == 0) return false;
  if (take_one_of(text, ".") && take_digits(text) == 0) return false;
  if (take_one_of(text, "eE")) {
    take_one_of(text, "+-");
    if (take_digits(text) == 0) return false;
  }
  return text.empty();
}

}  // namespace

Result<Expression> JsonReader::read() {
  auto root = read_value("an object or an array of objects");
  if (!root) return root;
  skip_blanks();
  if (at_end()) return root;
  return fail_expected("the end of the file behind the value that it holds", "a file holds one value");
}

Range JsonReader::take(std::size_t size) {
  const Position start = here_;
  here_ = advance(here_, text_.substr(here_.byte, size));
  return {start, here_};
}

void JsonReader::skip_blanks() {
  std::size_t size = text_.find_first_not_of(" \t\r\n", here_.byte);
  if (size == std::string_view::npos) size = text_.size();
  take(size - here_.byte);
}

std::size_t JsonReader::word_size() const {
  std::size_t end = here_.byte;
  while (end < text_.size() && is_in_word(text_[end])) ++end;
  return end - here_.byte;
}

JsonReader::Found JsonReader::found() const {
  if (at_end()) return {{here_, here_}, "the end of the file"};
  std::size_t size = word_size();
  if (size == 0) size = grapheme_end(text_, here_.byte) - here_.byte;
  const std::string_view text = text_.substr(here_.byte, size);
  return {{here_, advance(here_, text)}, text == "\"" ? "a string" : quoted_for_message(text)};
}

tl::unexpected<Error> JsonReader::fail_at(const Range& range, std::string message, std::string hint) const {
  return fail({.code = error_code_,
               .message = std::move(message),
               .location = Location{path_, range},
               .hint = std::move(hint)});
}

tl::unexpected<Error> JsonReader::fail_expected(std::string_view expected, std::string hint) const {
  const Found what = found();
  const char c = next();
  if (c == '#' || c == '/') hint = "JSON has no comments; a member named \"//\" can hold one";
  if (c == '\'') hint = "strings and names take double quotes";
  return fail_at(what.range, fmt::format("expected {}, found {}", expected, what.name), std::move(hint));
}

tl::unexpected<Error> JsonReader::fail_in_brackets(const Range& opening, std::string_view expected,
                                                   std::string hint) const {
  const char bracket = text_[opening.start.byte];
  if (at_end()) {
    return fail_at(opening,
                   fmt::format("\"{}\" is never closed: expected {} before the end of the file", bracket, expected));
  }
  if (opening.start.line != here_.line) {
    hint += fmt::format("{}the \"{}\" on line {} is still open", hint.empty() ? "" : "; ", bracket, opening.start.line);
  }
  return fail_expected(expected, std::move(hint));
}

tl::unexpected<Error> JsonReader::fail_value(std::string_view expected) const {
  const bool word = is_letter(next());
  return fail_expected(
      expected, word ? "JSON knows the words true, false and null, in lower case; text needs double quotes" : "");
}

Result<Expression> JsonReader::read_value(std::string_view expected) {
  skip_blanks();
  switch (next()) {
    case '{':
    case '[':
      return read_nested();
    case '"':
      return read_string();
    default:
      return read_word(expected);
  }
}

Result<Expression> JsonReader::read_nested() {
  if (depth_ == kMaxDepth) {
    return fail({.code = Code::limit_exceeded,
                 .message = fmt::format("this is nested more than {} levels deep, which is the limit", kMaxDepth),
                 .location = Location{path_, found().range},
                 .hint = "split it, for example with local values"});
  }
  ++depth_;
  auto value = next() == '{' ? read_object() : read_array();
  --depth_;
  return value;
}

Result<Expression> JsonReader::read_object() {
  const Range opening = take(1);
  Object object;
  skip_blanks();
  bool more = next() != '}';
  while (more) {
    auto member = read_member(opening);
    if (!member) return fail(std::move(member).error());
    object.items.push_back(std::move(*member));
    auto comma = read_comma(opening, '}', "a member of the object");
    if (!comma) return fail(std::move(comma).error());
    more = *comma;
  }
  return Expression{{opening.start, take(1).end}, std::move(object)};
}

Result<ObjectItem> JsonReader::read_member(const Range& opening) {
  skip_blanks();
  if (next() != '"') {
    return fail_in_brackets(opening, "the name of a member in double quotes or \"}\"",
                            is_letter(next()) ? "names take double quotes" : "");
  }
  auto key = read_string();
  if (!key) return fail(std::move(key).error());
  const auto& name = std::get<JsonString>(key->node).text;
  skip_blanks();
  if (next() != ':') {
    return fail_in_brackets(opening, fmt::format("\":\" behind the name {}", quoted_for_message(name)),
                            next() == '=' ? "JSON puts \":\" between a name and its value" : "");
  }
  take(1);
  skip_blanks();
  if (at_end()) return fail_in_brackets(opening, fmt::format("the value of {}", quoted_for_message(name)));
  auto value = read_value(fmt::format("the value of {}", quoted_for_message(name)));
  if (!value) return fail(std::move(value).error());
  return ObjectItem{std::move(*key), false, std::move(*value)};
}

Result<Expression> JsonReader::read_array() {
  const Range opening = take(1);
  Tuple tuple;
  skip_blanks();
  bool more = next() != ']';
  while (more) {
    skip_blanks();
    if (at_end()) return fail_in_brackets(opening, "a value or \"]\"");
    auto item = read_value("a value or \"]\"");
    if (!item) return item;
    tuple.items.push_back(std::move(*item));
    auto comma = read_comma(opening, ']', "an item of the array");
    if (!comma) return fail(std::move(comma).error());
    more = *comma;
  }
  return Expression{{opening.start, take(1).end}, std::move(tuple)};
}

// Whether another item follows; otherwise the closing bracket is next.
Result<bool> JsonReader::read_comma(const Range& opening, char close, std::string_view behind) {
  skip_blanks();
  if (next() == close) return false;
  if (next() != ',') return fail_in_brackets(opening, fmt::format("\",\" or \"{}\" behind {}", close, behind));
  const Range comma = take(1);
  skip_blanks();
  if (next() != close) return true;
  return fail_at(comma, fmt::format("expected something more behind this \",\", found \"{}\"", close),
                 "remove the comma: JSON allows none behind the last one");
}

Result<Expression> JsonReader::read_word(std::string_view expected) {
  const std::string_view word = text_.substr(here_.byte, word_size());
  if (word.empty() || is_letter(word[0]) || word[0] == '_') {
    if (word == "true" || word == "false") return Expression{take(word.size()), BoolLiteral{word == "true"}};
    if (word == "null") return Expression{take(word.size()), NullLiteral{}};
    return fail_value(expected);
  }
  if (is_number(word)) return Expression{take(word.size()), NumberLiteral{std::string(word)}};
  return fail_at(found().range, fmt::format("expected a number, found {}, which is none", quoted_for_message(word)),
                 "numbers read like 0, -12.5 or 1e9; text such as a version needs double quotes");
}

}  // namespace modlock::hcl
