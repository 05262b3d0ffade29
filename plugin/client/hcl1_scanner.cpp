#include "plugin/client/hcl1_scanner.h"

#include <optional>

#include "backends/base/ascii.h"
#include "protocol/base/result.h"
#include "protocol/base/utf8.h"

namespace modlock::hcl1 {
namespace {

bool is_letter(char c) {
  return ascii::is_alpha(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_word_character(char c) {
  return is_letter(c) || ascii::is_digit(c) || c == '-' || c == '.';
}

std::optional<char> simple_escape(char c) {
  constexpr std::string_view kNames = "abfnrtv\\\"";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\\"";
  const std::size_t index = kNames.find(c);
  return index == std::string_view::npos ? std::nullopt : std::optional(kValues[index]);
}

// The text of a heredoc as HCL 1 reads it: with `<<-` all lines lose the indentation of the end mark, if all have it.
std::string heredoc_text(std::string_view body, std::string_view indentation, bool is_indented) {
  if (!is_indented) {
    return std::string(body) + std::string(indentation);
  }
  std::string out;
  for (std::string_view rest = body; !rest.empty();) {
    const std::size_t end = rest.find('\n') + 1;
    if (!rest.substr(0, end).starts_with(indentation)) {
      return std::string(body);
    }
    out += rest.substr(indentation.size(), end - indentation.size());
    rest.remove_prefix(end);
  }
  return out;
}

}  // namespace

tl::unexpected<Error> Scanner::wrong(Place at, std::string_view what) const {
  return hcl1::wrong(name_, at, what);
}

void Scanner::advance(std::size_t bytes) {
  for (; bytes > 0 && !at_end(); --bytes, ++at_) {
    if (text_[at_] == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(text_[at_]) & 0xC0U) != 0x80U) {
      ++place_.column;
    }
  }
}

Result<void> Scanner::skip_comment() {
  const Place start = place_;
  if (peek() == '#' || peek(1) == '/') {
    while (!at_end() && peek() != '\n') {
      advance();
    }
    return {};
  }
  if (peek(1) != '*') {
    return wrong(start, "a \"/\" that does not start a comment");
  }
  advance(2);
  while (!(peek() == '*' && peek(1) == '/')) {
    if (at_end()) {
      return wrong(start, "a comment that does not end");
    }
    advance();
  }
  advance(2);
  return {};
}

Result<void> Scanner::skip_blanks() {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      advance();
    } else if (!is_json_ && (c == '#' || c == '/')) {
      MODLOCK_TRY(skip_comment());
    } else {
      break;
    }
  }
  return {};
}

Result<void> Scanner::scan_escape(std::string& out) {
  const Place start = place_;
  advance();
  const char kind = peek();
  if (const auto simple = simple_escape(kind)) {
    advance();
    out += *simple;
    return {};
  }
  const bool is_octal = kind >= '0' && kind <= '7';
  const std::size_t count = is_octal ? 3U : kind == 'x' ? 2U : kind == 'u' ? 4U : kind == 'U' ? 8U : 0U;
  if (!is_octal) {
    advance();
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i, advance()) {
    const int digit = ascii::hex_value(peek());
    if (digit < 0 || digit >= (is_octal ? 8 : 16)) {
      return wrong(start, "an invalid escape sequence");
    }
    value = value * (is_octal ? 8U : 16U) + static_cast<unsigned>(digit);
  }
  const bool is_byte = is_octal || kind == 'x';
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (count == 0 || value > (is_byte ? 0xFFU : 0x10FFFFU) || (!is_byte && is_surrogate)) {
    return wrong(start, "an invalid escape sequence");
  }
  if (is_byte) {
    out += static_cast<char>(value);
  } else {
    append_utf8(out, static_cast<char32_t>(value));
  }
  return {};
}

Result<void> Scanner::scan_string(std::string& out) {
  const Place start = place_;
  advance();
  std::size_t braces = 0;  // inside `${…}`, where quotes and escapes are kept
  while (true) {
    const char c = peek();
    if (at_end() || c == '\0' || (c == '\n' && (braces == 0 || is_json_))) {
      return wrong(start, "a string that does not end");
    }
    if (c == '"' && braces == 0) {
      advance();
      return {};
    }
    if (c == '\\') {
      const std::size_t before = at_;
      std::string decoded;
      MODLOCK_TRY(scan_escape(decoded));
      out += braces == 0 ? decoded : std::string(text_.substr(before, at_ - before));
      continue;
    }
    if (!is_json_ && (braces > 0 ? c == '{' : c == '$' && peek(1) == '{')) {
      out += braces == 0 ? "$" : "";
      advance(braces == 0 ? 1 : 0);
      ++braces;
    } else if (braces > 0 && c == '}') {
      --braces;
    }
    out += peek();
    advance();
  }
}

Result<void> Scanner::scan_heredoc(std::string& out) {
  const Place start = place_;
  advance(2);
  const bool is_indented = peek() == '-';
  advance(is_indented ? 1 : 0);
  const std::size_t mark_start = at_;
  while (is_letter(peek()) || ascii::is_digit(peek())) {
    advance();
  }
  const std::string_view mark = text_.substr(mark_start, at_ - mark_start);
  if (mark.empty() || peek() != '\n') {
    return wrong(start, "a heredoc without an end mark after \"<<\"");
  }
  advance();
  const std::size_t body_start = at_;
  while (true) {
    const std::size_t line_start = at_;
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) {
      return wrong(start, "a heredoc that does not end");
    }
    const std::string_view line = text_.substr(at_, end - at_);
    advance(end + 1 - at_);
    const std::size_t indentation = std::min(line.find_first_not_of(" \t\v\f\r"), line.size());
    if (line.substr(indentation) == mark) {
      out = heredoc_text(text_.substr(body_start, line_start - body_start), line.substr(0, indentation), is_indented);
      return {};
    }
  }
}

void Scanner::scan_word() {
  while (is_word_character(peek())) {
    advance();
  }
}

void Scanner::scan_number() {
  advance();
  while (is_word_character(peek()) || (peek() == '+' && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
    advance();
  }
}

Result<Token> Scanner::next() {
  MODLOCK_TRY(skip_blanks());
  Token token{.at = place_};
  const std::size_t start = at_;
  const char c = peek();
  if (at_end()) {
    return token;
  }
  if (is_letter(c)) {
    scan_word();
    const std::string_view word = text_.substr(start, at_ - start);
    token.kind = word == "true" || word == "false" ? Token::Kind::boolean
                 : is_json_ && word == "null"      ? Token::Kind::null
                                                   : Token::Kind::word;
  } else if (ascii::is_digit(c) || (c == '-' && ascii::is_digit(peek(1)))) {
    scan_number();
    token.kind = Token::Kind::number;
  } else if (c == '"') {
    token.kind = Token::Kind::string;
    MODLOCK_TRY(scan_string(token.text));
  } else if (!is_json_ && c == '<' && peek(1) == '<') {
    token.kind = Token::Kind::string;
    MODLOCK_TRY(scan_heredoc(token.text));
  } else if (std::string_view(is_json_ ? "{}[],:" : "{}[],=").find(c) != std::string_view::npos) {
    token.kind = Token::Kind::punctuation;
    advance();
  } else {
    return wrong(place_, "a character that has no meaning there");
  }
  token.raw = text_.substr(start, at_ - start);
  if (token.kind != Token::Kind::string) {
    token.text = token.raw;
  }
  return token;
}

}  // namespace modlock::hcl1
