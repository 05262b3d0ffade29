#include "plugin/hcl/json_reader.h"

#include <fmt/format.h>

#include <utility>

#include "backends/base/ascii.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"
#include "protocol/base/json.h"

namespace modlock::hcl {
namespace {

// A word is taken as a whole, so that it is reported as a whole: "01", "1.2.3", "True", "-Infinity".
bool is_in_word(char c) {
  return ascii::is_alnum(c) || c == '-' || c == '+' || c == '.' || c == '_';
}

constexpr std::size_t kUnit = 6;  // "\\uXXXX"

// Words the faults of a text for people: where it is in the lines, and what it may be mistaken for.
class JsonChecker {
 public:
  JsonChecker(std::string_view text, const std::string& path, Code error_code)
      : text_(text), path_(path), error_code_(error_code), tokens_(text) {}

  Result<void> check() {
    while (true) {
      const JsonToken token = tokens_.next();
      if (token.lone_surrogate != std::string_view::npos) {
        return fail_at(range_of(token.lone_surrogate, kUnit),
                       fmt::format("expected a character, found {}, which is half of a surrogate pair",
                                   text_.substr(token.lone_surrogate, kUnit)),
                       "characters beyond U+FFFF need two escapes: \\ud83d\\ude00");
      }
      if (token.kind == JsonKind::fault) return fail_token(token);
      if (token.kind == JsonKind::text_end) return {};
      if (token.kind == JsonKind::name) name_ = token.of(text_);
      if ((token.kind == JsonKind::number || token.kind == JsonKind::literal) && word_size(token.end) > 0) {
        return fail_word(token.start);
      }
      if (tokens_.depth() > kMaxDepth) {
        return fail({.code = Code::limit_exceeded,
                     .message = fmt::format("this is nested more than {} levels deep, which is the limit", kMaxDepth),
                     .location = Location{path_, range_of(token.start, grapheme_end(text_, token.start) - token.start)},
                     .hint = "split it, for example with local values"});
      }
    }
  }

 private:
  using Failed = tl::unexpected<Error>;

  char byte_at(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  std::size_t word_size(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && is_in_word(text_[end])) ++end;
    return end - at;
  }

  Range range_of(std::size_t at, std::size_t size) const {
    const Position start = advance({}, text_.substr(0, at));
    return {start, advance(start, text_.substr(at, size))};
  }

  std::string name() const { return quoted_for_message(decode_json_string(name_)); }

  Failed fail_at(const Range& range, std::string message, std::string hint = {}) const {
    return fail({.code = error_code_,
                 .message = std::move(message),
                 .location = Location{path_, range},
                 .hint = std::move(hint)});
  }

  Failed fail_expected(std::size_t at, std::string_view expected, std::string hint = {}) const {
    const char c = byte_at(at);
    if (c == '#' || c == '/') hint = "JSON has no comments; a member named \"//\" can hold one";
    if (c == '\'') hint = "strings and names need double quotes";
    std::size_t size = word_size(at);
    if (size == 0 && at < text_.size()) size = grapheme_end(text_, at) - at;
    const std::string_view text = text_.substr(at, size);
    const std::string found = size == 0 ? "the end of the file" : text == "\"" ? "a string" : quoted_for_message(text);
    return fail_at(range_of(at, size), fmt::format("expected {}, found {}", expected, found), std::move(hint));
  }

  // Like fail_expected(), but reports the opening bracket if the file ends.
  Failed fail_in_brackets(std::size_t at, std::string_view expected, std::string hint = {}) const {
    const Range opening = range_of(tokens_.opening(), 1);
    const char bracket = text_[tokens_.opening()];
    if (at == text_.size()) {
      return fail_at(opening,
                     fmt::format("\"{}\" is never closed: expected {} before the end of the file", bracket, expected));
    }
    if (text_.substr(0, at).find('\n', tokens_.opening()) != std::string_view::npos) {
      hint +=
          fmt::format("{}the \"{}\" on line {} is still open", hint.empty() ? "" : "; ", bracket, opening.start.line);
    }
    return fail_expected(at, expected, std::move(hint));
  }

  // Reports the comma before the closing bracket at `at`.
  Failed fail_comma(std::size_t at) const {
    return fail_at(range_of(text_.rfind(',', at), 1),
                   fmt::format("expected something after this \",\", found \"{}\"", text_[at]),
                   "remove the comma: JSON allows none after the last one");
  }

  // Reports what is where a value should be.
  Failed fail_word(std::size_t at) const {
    const std::string_view word = text_.substr(at, word_size(at));
    const bool is_name = !word.empty() && ascii::is_alpha(word[0]);
    if (word.empty() || is_name || word[0] == '_') {
      return fail_expected(
          at, wanted_value(),
          is_name ? "JSON has only the literals true, false and null, in lower case; text needs double quotes" : "");
    }
    return fail_at(range_of(at, word.size()), fmt::format("expected a number, found {}", quoted_for_message(word)),
                   "numbers read like 0, -12.5 or 1e9; text such as a version needs double quotes");
  }

  std::string wanted_value() const {
    return tokens_.depth() == 0 ? "an object or an array of objects"
           : tokens_.in_array() ? "a value or \"]\""
                                : "the value of " + name();
  }

  Failed fail_string(const JsonToken& token) const {
    const std::size_t at = token.end;
    if (token.fault == JsonFault::hex_digit) {
      const std::size_t start = text_.rfind('\\', at - 1);
      return fail_at(range_of(start, at - start),
                     fmt::format("expected 4 hexadecimal digits after \\u, found {}", at - start - 2));
    }
    if (at == text_.size() || text_[at] == '\n' || text_[at] == '\r') {
      return fail_at(range_of(token.start, 1), "the string that starts here has no closing quotation mark on its line",
                     "close the string, or write a line break as \\n");
    }
    const bool is_control = static_cast<unsigned char>(text_[at]) < 0x20;
    if (token.fault == JsonFault::escape) {
      const std::size_t size = is_control ? 1 : grapheme_end(text_, at) - at + 1;
      return fail_at(range_of(at - 1, size),
                     fmt::format("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found {}",
                                 quoted_for_message(text_.substr(at - 1, size))),
                     "write \\\\ for one backslash");
    }
    std::string hint = "write it as ";
    append_json_escape(hint, text_[at]);
    return fail_at(
        range_of(at, 1),
        fmt::format("expected text, found the control character {}", quoted_for_message(text_.substr(at, 1))), hint);
  }

  Failed fail_token(const JsonToken& token) const {
    const std::size_t at = token.end;
    const char found = byte_at(at);
    switch (token.fault) {
      case JsonFault::value:
        if (tokens_.in_array() && found == ']') return fail_comma(at);
        return tokens_.depth() > 0 && at == text_.size() ? fail_in_brackets(at, wanted_value()) : fail_word(at);
      case JsonFault::name:
        if (found == '}') return fail_comma(at);
        return fail_in_brackets(at, "the name of a member in double quotes or \"}\"",
                                ascii::is_alpha(found) ? "names need double quotes" : "");
      case JsonFault::colon:
        return fail_in_brackets(at, "\":\" after the name " + name(),
                                found == '=' ? "write \":\" between a name and its value" : "");
      case JsonFault::member_end:
        return fail_in_brackets(at, "\",\" or \"}\" after a member of the object");
      case JsonFault::item_end:
        return fail_in_brackets(at, "\",\" or \"]\" after an item of the array");
      case JsonFault::text_end:
        return fail_expected(at, "the end of the file after its value", "a file contains only one value");
      case JsonFault::character:
      case JsonFault::escape:
      case JsonFault::hex_digit:
        return fail_string(token);
      default:
        return fail_word(token.start);
    }
  }

  std::string_view text_;
  const std::string& path_;
  Code error_code_;
  JsonTokens tokens_;
  std::string_view name_;  // the last one, as written
};

}  // namespace

Result<void> check_json(std::string_view text, const std::string& path, Code error_code) {
  return JsonChecker(text, path, error_code).check();
}

Expression JsonReader::read() {
  const std::string_view literal = next_.of(text_);
  if (next_.kind == JsonKind::string) return read_name();
  if (next_.kind == JsonKind::number) return {take(), NumberLiteral{std::string(literal)}};
  if (literal == "null") return {take(), NullLiteral{}};
  if (next_.kind == JsonKind::literal) return {take(), BoolLiteral{literal == "true"}};
  const Position start = next_range().start;
  if (next_.kind == JsonKind::array) {
    Tuple tuple;
    for (bool more = open(); more; more = another()) tuple.items.push_back(read());
    return {{start, here_}, std::move(tuple)};
  }
  Object object;
  for (bool more = open(); more; more = another()) {
    Expression key = read_name();
    object.items.push_back({std::move(key), false, read()});
  }
  return {{start, here_}, std::move(object)};
}

Range JsonReader::skip() {
  if (!next_.is_nested()) return take();
  const Position start = next_range().start;
  for (const std::size_t depth = tokens_.depth(); tokens_.depth() >= depth;) next_ = tokens_.next();
  return {start, take().end};
}

Expression JsonReader::read_name() {
  JsonString string;
  string.text = decode_json_string(next_.of(text_), &string.shifts);
  return {take(), std::move(string)};
}

bool JsonReader::open() {
  take();
  return another();
}

bool JsonReader::another() {
  if (next_.kind != JsonKind::close) return true;
  take();
  return false;
}

Range JsonReader::next_range() const {
  const Position start = advance(here_, text_.substr(here_.byte, next_.start - here_.byte));
  return {start, advance(start, next_.of(text_))};
}

Range JsonReader::take() {
  const Range range = next_range();
  here_ = range.end;
  next_ = tokens_.next();
  return range;
}

}  // namespace modlock::hcl
