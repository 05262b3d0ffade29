#include <algorithm>

#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
bool NativeParser::parse_tuple(Expression& into) {
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
        if (!parse_expression(tuple.items.emplace_back())) return false;
        height = std::max(height, height_);
        if (tokens_.next_is(TokenKind::close_bracket)) break;
        if (!tokens_.take_if(TokenKind::comma)) {
          return fail_in_brackets(opening, "\",\" or \"]\" behind an item of the list",
                                  "items of a list are separated by commas, on lines of their own too");
        }
      }
      close = tokens_.take();
    }
  }
  if (close.kind == TokenKind::end) return parse_for(opening, false, into);
  return finish(into, {opening.range.start, close.range.end}, std::move(tuple), height);
}

bool NativeParser::parse_object(Expression& into) {
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
      if (!parse_object_item(opening, object.items.emplace_back())) return false;
      height = std::max(height, height_);
      if (tokens_.next_is(TokenKind::close_brace)) break;
      if (!tokens_.take_if(TokenKind::comma) && !tokens_.take_if(TokenKind::newline)) {
        return fail_in_brackets(opening, "\",\", the end of the line or \"}\" behind an item of the object");
      }
    }
    if (tokens_.next_is(TokenKind::close_brace)) close = tokens_.take();
  }
  if (close.kind == TokenKind::end) return parse_for(opening, true, into);
  return finish(into, {opening.range.start, close.range.end}, std::move(object), height);
}

// Leaves the greater of both heights.
bool NativeParser::parse_object_item(const Token& opening, ObjectItem& into) {
  int height = 1;
  if (tokens_.next_is(TokenKind::identifier) &&
      (tokens_.peek_second().kind == TokenKind::equal || tokens_.peek_second().kind == TokenKind::colon)) {
    const Token name = tokens_.take();
    into.key.range = name.range;
    into.key.node.emplace<Variable>(Variable{std::string(name.text)});
    into.bare_key = true;
  } else if (tokens_.next_is(TokenKind::comma)) {
    return fail_expected("a key or \"}\"", "a comma stands on the line of the item before it");
  } else {
    if (!parse_expression(into.key)) return false;
    height = height_;
  }
  if (!tokens_.take_if(TokenKind::equal) && !tokens_.take_if(TokenKind::colon)) {
    return fail_in_brackets(opening, "\"=\" or \":\" behind a key of the object");
  }
  if (tokens_.next_is(TokenKind::newline)) {
    return fail_expected("the value of the key", "the value must start on the line of its key");
  }
  if (!parse_expression(into.value)) return false;
  height_ = std::max(height, height_);
  return true;
}

bool NativeParser::parse_for_names(std::string& key, std::string& value) {
  tokens_.take();
  if (!tokens_.next_is(TokenKind::identifier)) {
    return fail_expected("the name of a variable behind \"for\"",
                         "a key named for must be quoted or put in parentheses");
  }
  value = std::string(tokens_.take().text);
  if (tokens_.take_if(TokenKind::comma)) {
    if (!tokens_.next_is(TokenKind::identifier)) {
      return fail_expected("the name of the second variable of \"for\"");
    }
    key = std::move(value);
    value = std::string(tokens_.take().text);
  }
  if (!tokens_.next_is_word("in")) {
    return fail_expected("\"in\" behind the variables of \"for\"",
                         "a key named for must be quoted or put in parentheses");
  }
  tokens_.take();
  return true;
}

bool NativeParser::parse_for(const Token& opening, bool object, Expression& into) {
  For node;
  int height = 0;
  Token close;
  {
    const TokenStream::LineEnds free(tokens_, false);
    const auto part = [&](ExpressionPtr& expression) {
      const bool parsed = parse_boxed(expression);
      height = std::max(height, height_);
      return parsed;
    };
    if (!parse_for_names(node.key_variable, node.value_variable) || !part(node.collection)) return false;
    if (!tokens_.take_if(TokenKind::colon)) {
      return fail_in_brackets(opening, "\":\" behind the collection of \"for\"");
    }
    if (!part(node.value)) return false;
    if (object) {
      if (!tokens_.take_if(TokenKind::arrow)) {
        return fail_in_brackets(opening, "\"=>\" behind the key of a \"for\" in braces");
      }
      node.key = std::move(node.value);
      if (!part(node.value)) return false;
      node.grouping = tokens_.take_if(TokenKind::ellipsis);
    } else if (tokens_.next_is(TokenKind::arrow)) {
      return fail_expected("\"if\" or \"]\"", "a \"for\" with keys stands in braces: {for k, v in c : k => v}");
    }
    if (tokens_.next_is_word("if")) {
      tokens_.take();
      if (!part(node.condition)) return false;
    }
    if (!tokens_.next_is(object ? TokenKind::close_brace : TokenKind::close_bracket)) {
      return fail_in_brackets(opening, object ? "\"if\" or \"}\"" : "\"if\" or \"]\"");
    }
    close = tokens_.take();
  }
  return finish(into, {opening.range.start, close.range.end}, Boxed(std::move(node)), height);
}

}  // namespace modlock::hcl
