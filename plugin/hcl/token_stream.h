#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "plugin/hcl/lexer.h"
#include "plugin/hcl/source_map.h"

namespace modlock::hcl {

// The tokens of a text as the parser wants them: looked at before they are taken, and with or without line ends, which
// mean nothing inside of ( ), [ ] and ${ }.
class TokenStream {
 public:
  // While one lives, line ends are tokens or are skipped. Destroy it before looking past the closing bracket.
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
  // Of a text that was decoded: ranges of tokens are those in the file.
  TokenStream(std::string_view text, SourceMap map) : text_(text), lexer_(text, {}), map_(std::move(map)) {}

  // Reads all of the text as a template.
  void open_template() { lexer_.open_template(); }

  // The range of some of a token's text.
  Range part_of(const Token& token, std::size_t offset, std::size_t size);

  const Token& peek() {
    if (waiting_ == 0 || (!significant_ && ahead_[0].kind == TokenKind::newline)) fill_first();
    return ahead_[0];
  }
  // The token right behind the next one, line ends included.
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
  // Takes the next token if it is of this kind.
  bool take_if(TokenKind kind) {
    if (!next_is(kind)) return false;
    drop_first();
    return true;
  }

  // Says that the block header taken last was read as one.
  void header_is_read() { misread_header_.reset(); }

  // After an error: goes to the end of the line that ends what is being read, or to something in the first column that
  // looks like the header of a block (back to it, if an expression has swallowed it), or to the end.
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
  std::array<Token, 2> ahead_;  // looked at and not taken: the first `waiting_` of them
  std::size_t waiting_ = 0;
  bool significant_ = true;
  std::optional<Position> misread_header_;
};

}  // namespace modlock::hcl
