#include "plugin/hcl/token_stream.h"

#include "plugin/hcl/characters.h"

namespace modlock::hcl {

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
