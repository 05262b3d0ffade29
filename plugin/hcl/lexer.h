#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/hcl/ast.h"
#include "protocol/base/error.h"

namespace modlock::hcl {

// Maps the bytes of a JsonString's text to positions in the file.
class SourceMap {
 public:
  // `quote` is the start of the string.
  SourceMap(const JsonString& string, Position quote);

  // Returns the position of the byte at this offset of the text; the end of the text is the closing quote. The position
  // after an escape is also the start of the next character. Calls with ascending offsets take time linear in the text
  // in total.
  Position at(std::size_t offset);
  Range range(std::size_t start, std::size_t end) { return {at(start), at(end)}; }

 private:
  const JsonString& string_;
  Position quote_;
  std::string raw_;  // as long and as wide as the string in the file, from its quote on
  Position last_;
};

enum class TokenKind {
  end,
  newline,  // a line ending, or a line comment with its line ending
  identifier,
  number,  // as lexed: "1.2.3" is one (bad) number
  // brackets
  open_brace,
  close_brace,
  open_bracket,
  close_bracket,
  open_parenthesis,
  close_parenthesis,
  // templates
  open_quote,
  close_quote,
  open_heredoc,   // "<<" up to and including the line ending
  close_heredoc,  // the marker's line without its line ending
  literal,        // raw text of a template, at most one line unless it is in quotes
  interpolation,  // "${" or "${~"
  directive,      // "%{" or "%{~"
  sequence_end,   // the "}" or "~}" of one of these
  // punctuation
  equal,
  colon,
  double_colon,
  comma,
  dot,
  ellipsis,
  question,
  arrow,
  // operators
  logical_or,
  logical_and,
  equal_equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  plus,
  minus,
  star,
  slash,
  percent,
  exclamation,
  // not allowed in any text
  invalid,               // one character without a meaning here
  bad_heredoc,           // "<<" that is not followed directly by a marker and a line ending
  unterminated_comment,  // "/*" without "*/"
  unterminated_string,   // range and text are of the opening quote
  unterminated_heredoc,  // range and text are of the opening line
};

struct Token {
  TokenKind kind = TokenKind::end;
  Range range;
  std::string_view text;
  bool outermost = false;  // not inside a bracket or a template
};

// Splits a text into tokens, one at a time, with a stack for strings and heredocs, interpolations in them, strings in
// these, and so on. Comments are never separate tokens. `text` is valid UTF-8 and outlives the lexer.
class Lexer {
 public:
  Lexer(std::string_view text, Position start);

  // Returns the next token; at the end of the text it always returns `end`.
  Token next();

  // Reads the rest of the text as a template, without quotes and escapes.
  void open_template() { modes_.push_back({ModeKind::bare, {}, {}}); }

  // Forgets every open bracket and template and continues as outermost. Used after an error.
  void forget_open();

  // Continues, as outermost, at an earlier position.
  void go_back(Position position) {
    forget_open();
    here_ = position;
  }

 private:
  enum class ModeKind { quoted, heredoc, bare, sequence };
  struct Mode {
    ModeKind kind = ModeKind::quoted;
    Range opening;            // of the quote, of the heredoc's first line
    std::string_view marker;  // of a heredoc
    bool line_start = true;   // of a heredoc: whether the next byte starts a line
    std::size_t braces = 0;   // of a sequence: how many "{" are open in it
  };

  std::string_view rest() const { return text_.substr(here_.byte); }
  bool starts_with(std::string_view what) const { return rest().substr(0, what.size()) == what; }
  Token take(TokenKind kind, std::size_t size);
  // `size` bytes of ASCII characters within one line.
  Token take_plain(TokenKind kind, std::size_t size) {
    const Position start = here_;
    here_.byte += static_cast<std::uint32_t>(size);
    here_.column += static_cast<std::uint32_t>(size);
    return {kind, {start, here_}, text_.substr(start.byte, size), modes_.empty() && brackets_ == 0};
  }
  Token take_line_end(std::size_t size);
  Token unterminated(TokenKind kind, const Range& opening);
  void skip_blanks_and_comments();
  Token next_normal();
  Token next_line_comment();
  Token next_open_quote();
  Token next_heredoc_opening();
  Token next_punctuation();
  Token next_open_brace();
  Token next_close_brace();
  Token next_quoted();
  Token next_lines();
  std::size_t number_size() const;
  std::size_t sequence_at(std::size_t at, char& which) const;

  std::string_view text_;
  Position here_;
  std::vector<Mode> modes_;
  std::size_t brackets_ = 0;                                  // open outside of templates
  std::size_t no_comment_end_from_ = std::string_view::npos;  // there is no "*/" after this byte
  std::set<std::string, std::less<>> endless_markers_;
};

// For messages: "the end of the line", "the number \"1.5\"", "\"}\"".
std::string describe(const Token& token);

// The tokens of a text for the parser, which can peek at them before it takes them. Line endings are tokens or are
// skipped; they have no meaning inside ( ), [ ] and ${ }.
class TokenStream {
 public:
  // Makes line endings tokens, or skips them, while the object exists. Destroy it before peeking past the closing
  // bracket.
  class LineEnds {
   public:
    LineEnds(TokenStream& stream, bool significant) : stream_(stream), before_(stream.significant_) {
      stream_.significant_ = significant;
    }
    ~LineEnds() { stream_.significant_ = before_; }
    LineEnds(const LineEnds&) = delete;
    LineEnds& operator=(const LineEnds&) = delete;

   private:
    TokenStream& stream_;
    bool before_;
  };

  TokenStream(std::string_view text, Position start) : text_(text), lexer_(text, start) {}
  // For a text that was decoded: tokens have their ranges in the file.
  TokenStream(std::string_view text, SourceMap map) : text_(text), lexer_(text, {}), map_(std::move(map)) {}

  void open_template() { lexer_.open_template(); }

  // The range of some of a token's text.
  Range part_of(const Token& token, std::size_t offset, std::size_t size);

  const Token& peek() {
    if (waiting_ == 0 || (!significant_ && ahead_[0].kind == TokenKind::newline)) fill_first();
    return ahead_[0];
  }
  // The token directly after the next one, including line endings.
  const Token& peek_second();
  Token take() {
    const Token token = peek();
    drop_first();
    if (is_block_header(token)) misread_header_ = token.range.start;
    return token;
  }
  bool line_ends_count() const { return significant_; }
  bool next_is(TokenKind kind) { return peek().kind == kind; }
  bool next_is_word(std::string_view word) { return next_is(TokenKind::identifier) && peek().text == word; }
  bool take_if(TokenKind kind) {
    if (!next_is(kind)) return false;
    drop_first();
    return true;
  }

  // Records that the block header taken last was read as a header.
  void header_is_read() { misread_header_.reset(); }

  // After an error: skips to the end of the line that ends the current item, or to text in the first column that looks
  // like a block header (back to it, if an expression has swallowed it), or to the end.
  void skip_to_next_item();

 private:
  void read_ahead();
  void fill_first();
  void drop_first() {
    if (--waiting_ > 0) ahead_[0] = ahead_[1];
  }
  bool is_block_header(const Token& first) const {
    return first.kind == TokenKind::identifier && first.range.start.column == 1 && header_follows(first);
  }
  // Whether the rest of the line reads `type label "label" … {`.
  bool header_follows(const Token& type) const;

  std::string_view text_;
  Lexer lexer_;
  std::optional<SourceMap> map_;
  std::array<Token, 2> ahead_;  // peeked at and not taken yet: the first `waiting_` of them
  std::size_t waiting_ = 0;
  bool significant_ = true;
  std::optional<Position> misread_header_;
};

}  // namespace modlock::hcl
