#include "plugin/hcl/json_reader.h"

#include <fmt/format.h>

#include <utility>

#include "backends/base/ascii.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"
#include "protocol/base/json.h"
#include "protocol/base/utf8.h"

namespace modlock::hcl {
namespace {

// A word is taken as a whole, so that it is reported as a whole: "01", "1.2.3", "True", "-Infinity".
bool is_in_word(char c) {
  return ascii::is_alnum(c) || c == '-' || c == '+' || c == '.' || c == '_';
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

std::string escape_for(char control) {
  switch (control) {
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{:04x}", static_cast<unsigned>(control));
  }
}

}  // namespace

Result<void> JsonReader::check() {
  checks_only_ = true;
  MODLOCK_TRY(read_value("an object or an array of objects"));
  skip_blanks();
  if (at_end()) return {};
  return fail_expected("the end of the file after its value", "a file contains only one value");
}

Expression JsonReader::read_checked() {
  return *read_value("");
}

Range JsonReader::skip_checked() {
  checks_only_ = true;
  const Range range = read_checked().range;
  checks_only_ = false;
  return range;
}

Expression JsonReader::read_name() {
  skip_blanks();
  auto name = *read_string();
  skip_blanks();
  take(1);
  return name;
}

bool JsonReader::open() {
  skip_blanks();
  take(1);
  if (peek() != '}' && peek() != ']') return true;
  take(1);
  return false;
}

bool JsonReader::another() {
  skip_blanks();
  return text_[take(1).start.byte] == ',';
}

char JsonReader::peek() {
  skip_blanks();
  return next();
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
  if (c == '\'') hint = "strings and names need double quotes";
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
  const bool word = ascii::is_alpha(next());
  return fail_expected(
      expected, word ? "JSON has only the literals true, false and null, in lower case; text needs double quotes" : "");
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
    MODLOCK_TRY(auto member, read_member(opening));
    if (!checks_only_) object.items.push_back(std::move(member));
    MODLOCK_TRY(more, read_comma(opening, '}', "a member of the object"));
  }
  return Expression{{opening.start, take(1).end}, std::move(object)};
}

Result<ObjectItem> JsonReader::read_member(const Range& opening) {
  skip_blanks();
  if (next() != '"') {
    return fail_in_brackets(opening, "the name of a member in double quotes or \"}\"",
                            ascii::is_alpha(next()) ? "names need double quotes" : "");
  }
  MODLOCK_TRY(auto key, read_string());
  const auto& name = std::get<JsonString>(key.node).text;
  skip_blanks();
  if (next() != ':') {
    return fail_in_brackets(opening, fmt::format("\":\" after the name {}", quoted_for_message(name)),
                            next() == '=' ? "write \":\" between a name and its value" : "");
  }
  take(1);
  skip_blanks();
  if (at_end()) return fail_in_brackets(opening, fmt::format("the value of {}", quoted_for_message(name)));
  MODLOCK_TRY(auto value, read_value(fmt::format("the value of {}", quoted_for_message(name))));
  return ObjectItem{std::move(key), false, std::move(value)};
}

Result<Expression> JsonReader::read_array() {
  const Range opening = take(1);
  Tuple tuple;
  skip_blanks();
  bool more = next() != ']';
  while (more) {
    skip_blanks();
    if (at_end()) return fail_in_brackets(opening, "a value or \"]\"");
    MODLOCK_TRY(auto item, read_value("a value or \"]\""));
    if (!checks_only_) tuple.items.push_back(std::move(item));
    MODLOCK_TRY(more, read_comma(opening, ']', "an item of the array"));
  }
  return Expression{{opening.start, take(1).end}, std::move(tuple)};
}

// Whether another item follows. If not, the closing bracket is next.
Result<bool> JsonReader::read_comma(const Range& opening, char close, std::string_view behind) {
  skip_blanks();
  if (next() == close) return false;
  if (next() != ',') return fail_in_brackets(opening, fmt::format("\",\" or \"{}\" after {}", close, behind));
  const Range comma = take(1);
  skip_blanks();
  if (next() != close) return true;
  return fail_at(comma, fmt::format("expected something after this \",\", found \"{}\"", close),
                 "remove the comma: JSON allows none after the last one");
}

Result<Expression> JsonReader::read_word(std::string_view expected) {
  const std::string_view word = text_.substr(here_.byte, word_size());
  if (word.empty() || ascii::is_alpha(word[0]) || word[0] == '_') {
    if (word == "true" || word == "false") return Expression{take(word.size()), BoolLiteral{word == "true"}};
    if (word == "null") return Expression{take(word.size()), NullLiteral{}};
    return fail_value(expected);
  }
  if (const JsonNumber number = read_json_number(word);
      number.lacks_digit == JsonNumber::Part::none && number.size == word.size())
    return Expression{take(word.size()), NumberLiteral{std::string(word)}};
  return fail_at(found().range, fmt::format("expected a number, found {}", quoted_for_message(word)),
                 "numbers read like 0, -12.5 or 1e9; text such as a version needs double quotes");
}

tl::unexpected<Error> JsonReader::fail_within(std::size_t at, std::size_t size, std::string message,
                                              std::string hint) const {
  const Position start = advance(here_, text_.substr(here_.byte, at - here_.byte));
  return fail_at({start, advance(start, text_.substr(at, size))}, std::move(message), std::move(hint));
}

Result<Expression> JsonReader::read_string() {
  JsonString string;
  const std::size_t start = here_.byte + 1;
  std::size_t at = start;
  const auto line_ends_at = [&](std::size_t place) {
    return place == text_.size() || text_[place] == '\n' || text_[place] == '\r';
  };
  while (true) {
    std::size_t end = at;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\\' && !is_control(text_[end])) ++end;
    string.text.append(text_.substr(at, end - at));
    at = end;
    if (line_ends_at(at) || (text_[at] == '\\' && line_ends_at(at + 1))) {
      return fail_within(here_.byte, 1, "the string that starts here has no closing quotation mark on its line",
                         "close the string, or write a line break as \\n");
    }
    if (text_[at] == '"') break;
    if (is_control(text_[at])) {
      return fail_within(
          at, 1, fmt::format("expected text, found the control character {}", quoted_for_message(text_.substr(at, 1))),
          fmt::format("write it as {}", escape_for(text_[at])));
    }
    if (auto done = read_escape(at, string); !done) return fail(std::move(done).error());
    string.shifts.emplace_back(string.text.size(), at - start - string.text.size());
  }
  return Expression{take(at + 1 - here_.byte), std::move(string)};
}

// Decodes the escape sequence at `at`, which starts with a backslash, and moves `at` past it.
Result<void> JsonReader::read_escape(std::size_t& at, JsonString& into) const {
  using Fault = JsonEscape::Fault;
  constexpr std::size_t kUnit = 6;  // "\\uXXXX"
  const JsonEscape found = read_json_escape(text_.substr(at));
  if (found.fault == Fault::none) {
    append_utf8(into.text, found.character);
    at += found.size;
    return {};
  }
  if (found.fault == Fault::letter) {
    const std::size_t size = is_control(text_[at + 1]) ? 1 : grapheme_end(text_, at + 1) - at;
    return fail_within(at, size,
                       fmt::format("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found {}",
                                   quoted_for_message(text_.substr(at, size))),
                       "write \\\\ for one backslash");
  }
  if (found.fault == Fault::digit && found.size < kUnit) {
    return fail_within(at, found.size,
                       fmt::format("expected 4 hexadecimal digits after \\u, found {}", found.size - 2));
  }
  return fail_within(
      at, kUnit,
      fmt::format("expected a character, found {}, which is half of a surrogate pair", text_.substr(at, kUnit)),
      "characters beyond U+FFFF need two escapes: \\ud83d\\ude00");
}

}  // namespace modlock::hcl
