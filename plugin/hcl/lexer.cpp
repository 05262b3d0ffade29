#include "plugin/hcl/lexer.h"

#include <algorithm>

#include "backends/base/ascii.h"
#include "plugin/hcl/characters.h"

namespace modlock::hcl {
namespace {

// Returns the start of the character that ends before `end`.
std::size_t character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

SourceMap::SourceMap(const JsonString& string, Position quote)
    : string_(string), quote_(quote), raw_(1, '"'), last_(quote) {
  const std::string_view text = string.text;
  std::size_t done = 0;
  std::size_t ahead = 0;
  for (const auto& [offset, shift] : string.shifts) {
    const std::size_t escaped = character_before(text, offset);
    raw_.append(text.substr(done, escaped - done));
    // An escape is plain ASCII.
    raw_.append(offset - escaped + shift - ahead, 'x');
    done = offset;
    ahead = shift;
  }
  raw_.append(text.substr(done));
}

Position SourceMap::at(std::size_t offset) {
  const auto& shifts = string_.shifts;
  const auto next = std::upper_bound(shifts.begin(), shifts.end(), offset,
                                     [](std::size_t value, const auto& shift) { return value < shift.first; });
  const std::size_t raw = 1 + offset + (next == shifts.begin() ? 0 : (next - 1)->second);
  if (quote_.byte + raw < last_.byte) last_ = quote_;
  const std::size_t done = last_.byte - quote_.byte;
  last_ = advance(last_, std::string_view(raw_).substr(done, raw - done));
  return last_;
}

namespace {

// A text whose heredocs never end is read again after each opening. More often than this would not be linear.
constexpr std::size_t kMaxEndlessMarkers = 16;

struct Punctuation {
  std::string_view text;
  TokenKind kind;
};

// Tokens with the same first character are next to each other, longer ones first.
constexpr std::array kPunctuation = {
    Punctuation{"=>", TokenKind::arrow},
    Punctuation{"==", TokenKind::equal_equal},
    Punctuation{"=", TokenKind::equal},
    Punctuation{"...", TokenKind::ellipsis},
    Punctuation{".", TokenKind::dot},
    Punctuation{",", TokenKind::comma},
    Punctuation{"[", TokenKind::open_bracket},
    Punctuation{"]", TokenKind::close_bracket},
    Punctuation{"(", TokenKind::open_parenthesis},
    Punctuation{")", TokenKind::close_parenthesis},
    Punctuation{"::", TokenKind::double_colon},
    Punctuation{":", TokenKind::colon},
    Punctuation{"?", TokenKind::question},
    Punctuation{"!=", TokenKind::not_equal},
    Punctuation{"!", TokenKind::exclamation},
    Punctuation{"<=", TokenKind::less_equal},
    Punctuation{"<", TokenKind::less},
    Punctuation{">=", TokenKind::greater_equal},
    Punctuation{">", TokenKind::greater},
    Punctuation{"&&", TokenKind::logical_and},
    Punctuation{"||", TokenKind::logical_or},
    Punctuation{"+", TokenKind::plus},
    Punctuation{"-", TokenKind::minus},
    Punctuation{"*", TokenKind::star},
    Punctuation{"/", TokenKind::slash},
    Punctuation{"%", TokenKind::percent},
};

// Returns the first token that starts with this character.
std::size_t first_punctuation(char first) {
  static constexpr std::array<std::uint8_t, 0x80> kFirst = [] {
    std::array<std::uint8_t, 0x80> places{};
    places.fill(kPunctuation.size());
    for (std::size_t i = kPunctuation.size(); i > 0; --i) {
      places[static_cast<std::size_t>(kPunctuation[i - 1].text[0])] = static_cast<std::uint8_t>(i - 1);
    }
    return places;
  }();
  const auto place = static_cast<unsigned char>(first);
  return place < kFirst.size() ? kFirst[place] : kPunctuation.size();
}

bool is_inline_blank(char c) {
  return c == ' ' || c == '\t';
}

bool breaks_line(char c) {
  return c == '\n' || c == '\r';
}

std::size_t newline_size(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '\n') return 1;
  return at + 1 < text.size() && text[at] == '\r' && text[at + 1] == '\n' ? 2 : 0;
}

}  // namespace

Lexer::Lexer(std::string_view text, Position start) : text_(text), here_(start) {}

Token Lexer::take(TokenKind kind, std::size_t size) {
  const std::string_view taken = rest().substr(0, size);
  const Position start = here_;
  here_ = advance(here_, taken);
  return {kind, {start, here_}, taken, modes_.empty() && brackets_ == 0};
}

// Takes a token that is within one line and ends with its line ending.
Token Lexer::take_line_end(std::size_t size) {
  const Position start = here_;
  here_ = {start.line + 1, 1, start.byte + static_cast<std::uint32_t>(size)};
  return {TokenKind::newline, {start, here_}, text_.substr(start.byte, size), modes_.empty() && brackets_ == 0};
}

Token Lexer::unterminated(TokenKind kind, const Range& opening) {
  const auto size = opening.end.byte - opening.start.byte;
  return {kind, opening, text_.substr(opening.start.byte, size), modes_.empty() && brackets_ == 0};
}

void Lexer::forget_open() {
  modes_.clear();
  brackets_ = 0;
}

Token Lexer::next() {
  if (modes_.empty() || modes_.back().kind == ModeKind::sequence) return next_normal();
  return modes_.back().kind == ModeKind::quoted ? next_quoted() : next_lines();
}

void Lexer::skip_blanks_and_comments() {
  while (true) {
    std::size_t end_of_blanks = here_.byte;
    while (end_of_blanks < text_.size() && is_inline_blank(text_[end_of_blanks])) ++end_of_blanks;
    here_.column += static_cast<std::uint32_t>(end_of_blanks - here_.byte);
    here_.byte = static_cast<std::uint32_t>(end_of_blanks);
    if (!starts_with("/*") || here_.byte >= no_comment_end_from_) return;
    const auto end = text_.find("*/", here_.byte + 2);
    if (end == std::string_view::npos) {
      no_comment_end_from_ = here_.byte;
      return;
    }
    here_ = advance(here_, text_.substr(here_.byte, end + 2 - here_.byte));
  }
}

Token Lexer::next_normal() {
  skip_blanks_and_comments();
  const std::string_view text = rest();
  if (text.empty()) return take(TokenKind::end, 0);
  if (const std::size_t size = plain_identifier_size(text)) return take_plain(TokenKind::identifier, size);
  switch (text[0]) {
    case '\n':
      return take_line_end(1);
    case '\r':
      return starts_with("\r\n") ? take_line_end(2) : next_punctuation();
    case '#':
      return next_line_comment();
    case '/':
      if (starts_with("//")) return next_line_comment();
      return starts_with("/*") ? take(TokenKind::unterminated_comment, 2) : next_punctuation();
    case '"':
      return next_open_quote();
    case '<':
      return starts_with("<<") ? next_heredoc_opening() : next_punctuation();
    case '{':
      return next_open_brace();
    case '}':
      return next_close_brace();
    case '~':
      return starts_with("~}") ? next_close_brace() : next_punctuation();
    default:
      if (ascii::is_digit(text[0])) return take_plain(TokenKind::number, number_size());
      if (const std::size_t size = identifier_size(text, 0)) return take(TokenKind::identifier, size);
      return next_punctuation();
  }
}

// Including its line ending.
Token Lexer::next_line_comment() {
  const auto end = rest().find('\n');
  return end == std::string_view::npos ? take(TokenKind::newline, rest().size()) : take_line_end(end + 1);
}

Token Lexer::next_open_quote() {
  const Token token = take_plain(TokenKind::open_quote, 1);
  modes_.push_back({ModeKind::quoted, token.range, {}});
  return token;
}

Token Lexer::next_heredoc_opening() {
  const std::string_view text = rest();
  const std::size_t start = starts_with("<<-") ? 3 : 2;
  const std::size_t size = identifier_size(text, start);
  const std::size_t line_end = newline_size(text, start + size);
  if (size == 0 && starts_with("<<<")) return take(TokenKind::less, 1);
  if (size == 0 || line_end == 0) return take(TokenKind::bad_heredoc, start + size);
  const Token token = take(TokenKind::open_heredoc, start + size + line_end);
  const std::string_view marker = token.text.substr(start, size);
  if (endless_markers_.count(marker) != 0) return unterminated(TokenKind::unterminated_heredoc, token.range);
  modes_.push_back({ModeKind::heredoc, token.range, marker});
  return token;
}

Token Lexer::next_punctuation() {
  const char first = text_[here_.byte];
  const char second = here_.byte + 1 < text_.size() ? text_[here_.byte + 1] : '\0';
  for (std::size_t i = first_punctuation(first); i < kPunctuation.size() && kPunctuation[i].text[0] == first; ++i) {
    const auto& [spelling, kind] = kPunctuation[i];
    if (spelling.size() > 1 && (spelling[1] != second || !starts_with(spelling))) continue;
    const bool opens = kind == TokenKind::open_bracket || kind == TokenKind::open_parenthesis;
    const bool closes = kind == TokenKind::close_bracket || kind == TokenKind::close_parenthesis;
    if (modes_.empty() && closes && brackets_ > 0) --brackets_;
    const Token token = take_plain(kind, spelling.size());
    if (modes_.empty() && opens) ++brackets_;
    return token;
  }
  return take(TokenKind::invalid, decode_utf8(text_, here_.byte).value_or(CodePoint{}).size);
}

Token Lexer::next_open_brace() {
  const Token token = take_plain(TokenKind::open_brace, 1);
  ++(modes_.empty() ? brackets_ : modes_.back().braces);
  return token;
}

Token Lexer::next_close_brace() {
  const bool strips = starts_with("~}");
  if (!modes_.empty() && modes_.back().braces == 0) {
    modes_.pop_back();
    return take_plain(TokenKind::sequence_end, strips ? 2 : 1);
  }
  if (strips) return take(TokenKind::invalid, 1);
  std::size_t& open = modes_.empty() ? brackets_ : modes_.back().braces;
  if (open > 0) --open;
  return take_plain(TokenKind::close_brace, 1);
}

// "1.2.3" and "1e5e5" are taken as a whole, so that they are reported as a whole.
std::size_t Lexer::number_size() const {
  const std::string_view text = rest();
  const auto digit_at = [&](std::size_t at) { return at < text.size() && ascii::is_digit(text[at]); };
  std::size_t size = 1;
  while (size < text.size()) {
    if (ascii::is_digit(text[size])) {
      ++size;
    } else if (text[size] == '.' && digit_at(size + 1)) {
      size += 2;
    } else if (text[size] == 'e' || text[size] == 'E') {
      const bool is_signed = size + 1 < text.size() && (text[size + 1] == '+' || text[size + 1] == '-');
      const std::size_t digit = size + (is_signed ? 2 : 1);
      if (!digit_at(digit)) break;
      size = digit + 1;
    } else {
      break;
    }
  }
  return size;
}

// Examines a run of "$" or "%" at `at`. Returns 0 and sets `which` for "${" or "%{"; otherwise returns the number of
// bytes of plain text, including the brace of an escaped "$${".
std::size_t Lexer::sequence_at(std::size_t at, char& which) const {
  const char sign = text_[at];
  std::size_t end = at;
  while (end < text_.size() && text_[end] == sign) ++end;
  const bool brace = end < text_.size() && text_[end] == '{';
  if (brace && end - at == 1) {
    which = sign;
    return 0;
  }
  return end - at + (brace ? 1 : 0);
}

Token Lexer::next_quoted() {
  std::size_t at = here_.byte;
  char sequence = 0;
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == '"' || breaks_line(c)) break;
    if (c == '\\' && at + 1 < text_.size() && !breaks_line(text_[at + 1])) {
      at += 2;
    } else if (c == '$' || c == '%') {
      const std::size_t plain = sequence_at(at, sequence);
      if (plain == 0) break;
      at += plain;
    } else {
      ++at;
    }
  }
  if (at > here_.byte) return take(TokenKind::literal, at - here_.byte);
  if (at < text_.size() && text_[at] == '"') {
    modes_.pop_back();
    return take_plain(TokenKind::close_quote, 1);
  }
  if (sequence != 0) {
    const Token token = take_plain(sequence == '$' ? TokenKind::interpolation : TokenKind::directive,
                                   at + 2 < text_.size() && text_[at + 2] == '~' ? 3 : 2);
    modes_.push_back({ModeKind::sequence, token.range, {}});
    return token;
  }
  const Range opening = modes_.back().opening;
  modes_.clear();
  return unterminated(TokenKind::unterminated_string, opening);
}

// In a heredoc, or in a template that is the whole text.
Token Lexer::next_lines() {
  Mode& mode = modes_.back();
  const bool heredoc = mode.kind == ModeKind::heredoc;
  std::size_t at = here_.byte;
  char sequence = 0;
  bool line_ended = false;
  while (at < text_.size() && !line_ended) {
    if (text_[at] == '\n') {
      line_ended = true;
    } else if (heredoc && text_[at] == '\r' && newline_size(text_, at) == 0) {
      break;
    } else if (text_[at] == '$' || text_[at] == '%') {
      const std::size_t plain = sequence_at(at, sequence);
      if (plain == 0) break;
      at += plain;
      continue;
    }
    ++at;
  }
  const std::string_view line = text_.substr(here_.byte, at - here_.byte);
  if (heredoc && line_ended && mode.line_start && trim_left(trim_right(line)) == mode.marker) {
    modes_.pop_back();
    const bool carriage_return = line.size() > 1 && line[line.size() - 2] == '\r';
    return take(TokenKind::close_heredoc, line.size() - (carriage_return ? 2 : 1));
  }
  mode.line_start = line_ended;
  if (!line.empty()) return take(TokenKind::literal, line.size());
  if (sequence != 0) {
    const Token token = take_plain(sequence == '$' ? TokenKind::interpolation : TokenKind::directive,
                                   at + 2 < text_.size() && text_[at + 2] == '~' ? 3 : 2);
    modes_.push_back({ModeKind::sequence, token.range, {}});
    return token;
  }
  if (!heredoc) return take(TokenKind::end, 0);
  if (at < text_.size()) return take(TokenKind::invalid, 1);
  const Range opening = mode.opening;
  // Reading continues after the opening, so that the text after the forgotten marker is still checked.
  if (endless_markers_.size() < kMaxEndlessMarkers) {
    endless_markers_.emplace(mode.marker);
    here_ = opening.end;
  }
  modes_.clear();
  return unterminated(TokenKind::unterminated_heredoc, opening);
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the file";
    case TokenKind::newline:
      return "the end of the line";
    case TokenKind::open_quote:
    case TokenKind::close_quote:
    case TokenKind::unterminated_string:
      return "a quotation mark";
    case TokenKind::open_heredoc:
    case TokenKind::bad_heredoc:
    case TokenKind::unterminated_heredoc:
      return "a heredoc";
    case TokenKind::literal:
      return "text";
    default:
      return quoted_for_message(token.text);
  }
}

void TokenStream::read_ahead() {
  Token& token = ahead_[waiting_++];
  token = lexer_.next();
  if (map_) token.range = map_->range(token.range.start.byte, token.range.end.byte);
}

void TokenStream::fill_first() {
  if (waiting_ == 0) read_ahead();
  while (!significant_ && ahead_[0].kind == TokenKind::newline) {
    drop_first();
    if (waiting_ == 0) read_ahead();
  }
}

Range TokenStream::part_of(const Token& token, std::size_t offset, std::size_t size) {
  if (map_) {
    const std::size_t start = static_cast<std::size_t>(token.text.data() - text_.data()) + offset;
    return map_->range(start, start + size);
  }
  const Position start = advance(token.range.start, token.text.substr(0, offset));
  return {start, advance(start, token.text.substr(offset, size))};
}

const Token& TokenStream::peek_second() {
  peek();
  if (waiting_ == 1) read_ahead();
  return ahead_[1];
}

bool TokenStream::header_follows(const Token& type) const {
  std::size_t at = type.range.end.byte;
  while (at < text_.size()) {
    if (text_[at] == '{') return true;
    if (text_[at] == ' ' || text_[at] == '\t') {
      ++at;
    } else if (text_[at] == '"') {
      const auto end = text_.find_first_of("\"\n", at + 1);
      if (end == std::string_view::npos || text_[end] == '\n') return false;
      at = end + 1;
    } else if (const std::size_t size = identifier_size(text_, at)) {
      at += size;
    } else {
      return false;
    }
  }
  return false;
}

void TokenStream::skip_to_next_item() {
  significant_ = true;
  if (misread_header_) {
    lexer_.go_back(*misread_header_);
    waiting_ = 0;
    misread_header_.reset();
    return;
  }
  while (!next_is(TokenKind::end)) {
    if (next_is(TokenKind::newline) && peek().outermost) return;
    if (is_block_header(peek())) {
      lexer_.forget_open();
      return;
    }
    take();
  }
}

}  // namespace modlock::hcl
