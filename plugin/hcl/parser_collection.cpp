#include <algorithm>

#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

ExpressionPtr boxed(Expression expression) {
  return std::make_unique<Expression>(std::move(expression));
}

}  // namespace

NativeParser::Parsed NativeParser::parse_tuple() {
  const Token opening = tokens_.take();
  Tuple tuple;
  int height = 0;
  Token close;
  {
    const TokenStream::LineEnds free(tokens_, false);
    if (!tokens_.next_is_word("for")) {
      while (!tokens_.next_is(TokenKind::close_bracket)) {
        if (tokens_.next_is(TokenKind::end) || tokens_.next_is(TokenKind::close_brace)) {
          return fail_in_brackets(opening, "a value or \"]\"");
        }
        auto item = parse_expression();
        if (!item) return std::nullopt;
        height = std::max(height, height_);
        tuple.items.push_back(std::move(*item));
        if (tokens_.next_is(TokenKind::close_bracket)) break;
        if (!tokens_.take_if(TokenKind::comma)) {
          return fail_in_brackets(opening, "\",\" or \"]\" behind an item of the list",
                                  "items of a list are separated by commas, on lines of their own too");
        }
      }
      close = tokens_.take();
    }
  }
  if (close.kind == TokenKind::end) return parse_for(opening, false);
  return finish({opening.range.start, close.range.end}, std::move(tuple), height);
}

NativeParser::Parsed NativeParser::parse_object() {
  const Token opening = tokens_.take();
  Object object;
  int height = 0;
  Token close;
  {
    const TokenStream::LineEnds significant(tokens_, true);
    bool first = true;
    while (true) {
      while (tokens_.take_if(TokenKind::newline)) {
      }
      if (first && tokens_.next_is_word("for")) break;
      first = false;
      if (tokens_.next_is(TokenKind::close_brace)) break;
      if (tokens_.next_is(TokenKind::end)) return fail_in_brackets(opening, "a key or \"}\"");
      auto item = parse_object_item(opening);
      if (!item) return std::nullopt;
      height = std::max(height, height_);
      object.items.push_back(std::move(*item));
      if (tokens_.next_is(TokenKind::close_brace)) break;
      if (!tokens_.take_if(TokenKind::comma) && !tokens_.take_if(TokenKind::newline)) {
        return fail_in_brackets(opening, "\",\", the end of the line or \"}\" behind an item of the object");
      }
    }
    if (tokens_.next_is(TokenKind::close_brace)) close = tokens_.take();
  }
  if (close.kind == TokenKind::end) return parse_for(opening, true);
  return finish({opening.range.start, close.range.end}, std::move(object), height);
}

// Leaves the greater of both heights.
std::optional<ObjectItem> NativeParser::parse_object_item(const Token& opening) {
  ObjectItem item;
  int height = 1;
  if (tokens_.next_is(TokenKind::identifier) &&
      (tokens_.peek_second().kind == TokenKind::equal || tokens_.peek_second().kind == TokenKind::colon)) {
    const Token name = tokens_.take();
    item.key = {name.range, Variable{std::string(name.text)}};
    item.bare_key = true;
  } else if (tokens_.next_is(TokenKind::comma)) {
    return fail_expected("a key or \"}\"", "a comma stands on the line of the item before it");
  } else {
    auto key = parse_expression();
    if (!key) return std::nullopt;
    height = height_;
    item.key = std::move(*key);
  }
  if (!tokens_.take_if(TokenKind::equal) && !tokens_.take_if(TokenKind::colon)) {
    return fail_in_brackets(opening, "\"=\" or \":\" behind a key of the object");
  }
  if (tokens_.next_is(TokenKind::newline)) {
    return fail_expected("the value of the key", "the value must start on the line of its key");
  }
  auto value = parse_expression();
  if (!value) return std::nullopt;
  item.value = std::move(*value);
  height_ = std::max(height, height_);
  return item;
}

bool NativeParser::parse_for_names(std::string& key, std::string& value) {
  tokens_.take();
  if (!tokens_.next_is(TokenKind::identifier)) {
    fail_expected("the name of a variable behind \"for\"", "a key named for must be quoted or put in parentheses");
    return false;
  }
  value = std::string(tokens_.take().text);
  if (tokens_.take_if(TokenKind::comma)) {
    if (!tokens_.next_is(TokenKind::identifier)) {
      fail_expected("the name of the second variable of \"for\"");
      return false;
    }
    key = std::move(value);
    value = std::string(tokens_.take().text);
  }
  if (!tokens_.next_is_word("in")) {
    fail_expected("\"in\" behind the variables of \"for\"", "a key named for must be quoted or put in parentheses");
    return false;
  }
  tokens_.take();
  return true;
}

NativeParser::Parsed NativeParser::parse_for(const Token& opening, bool object) {
  For node;
  int height = 0;
  Token close;
  {
    const TokenStream::LineEnds free(tokens_, false);
    const auto part = [&](ExpressionPtr& into) {
      auto parsed = parse_expression();
      if (!parsed) return false;
      height = std::max(height, height_);
      into = boxed(std::move(*parsed));
      return true;
    };
    if (!parse_for_names(node.key_variable, node.value_variable) || !part(node.collection)) return std::nullopt;
    if (!tokens_.take_if(TokenKind::colon)) {
      return fail_in_brackets(opening, "\":\" behind the collection of \"for\"");
    }
    if (!part(node.value)) return std::nullopt;
    if (object) {
      if (!tokens_.take_if(TokenKind::arrow)) {
        return fail_in_brackets(opening, "\"=>\" behind the key of a \"for\" in braces");
      }
      node.key = std::move(node.value);
      if (!part(node.value)) return std::nullopt;
      node.grouping = tokens_.take_if(TokenKind::ellipsis);
    } else if (tokens_.next_is(TokenKind::arrow)) {
      return fail_expected("\"if\" or \"]\"", "a \"for\" with keys stands in braces: {for k, v in c : k => v}");
    }
    if (tokens_.next_is_word("if")) {
      tokens_.take();
      if (!part(node.condition)) return std::nullopt;
    }
    if (!tokens_.next_is(object ? TokenKind::close_brace : TokenKind::close_bracket)) {
      return fail_in_brackets(opening, object ? "\"if\" or \"}\"" : "\"if\" or \"]\"");
    }
    close = tokens_.take();
  }
  return finish({opening.range.start, close.range.end}, std::move(node), height);
}

}  // namespace modlock::hcl
