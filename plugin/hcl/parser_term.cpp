#include <fmt/format.h>

#include <algorithm>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

constexpr std::string_view kDigits = "0123456789";

std::size_t skip_digits(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kDigits, at), text.size());
}

// The lexer takes too much as a number: "1.2.3".
bool is_number(std::string_view text) {
  std::size_t at = skip_digits(text, 0);
  if (at < text.size() && text[at] == '.') at = skip_digits(text, at + 1);
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    at = skip_digits(text, at);
  }
  return at == text.size();
}

std::string hint_for_value(TokenKind kind) {
  switch (kind) {
    case TokenKind::less:
    case TokenKind::less_equal:
    case TokenKind::greater:
    case TokenKind::greater_equal:
    case TokenKind::not_equal:
    case TokenKind::equal:
    case TokenKind::equal_equal:
      return "a version constraint is text and needs quotes: version = \">= 1.0\"";
    case TokenKind::dot:
    case TokenKind::slash:
      return "an address or a path is text and needs quotes: source = \"./modules/vpc\"";
    default:
      return {};
  }
}

}  // namespace

bool NativeParser::parse_term(Expression& into) {
  switch (tokens_.peek().kind) {
    case TokenKind::number:
      return parse_number(into);
    case TokenKind::identifier:
      return parse_name(into);
    case TokenKind::open_quote:
    case TokenKind::open_heredoc:
      return parse_template(into);
    case TokenKind::open_parenthesis:
      return parse_parentheses(into);
    case TokenKind::open_bracket:
      return parse_tuple(into);
    case TokenKind::open_brace:
      return parse_object(into);
    default:
      return fail_expected("a value", hint_for_value(tokens_.peek().kind));
  }
}

bool NativeParser::parse_number(Expression& into) {
  const Token number = tokens_.take();
  if (is_number(number.text)) return finish(into, number.range, NumberLiteral{std::string(number.text)}, 0);
  const std::string text = quoted_for_message(number.text);
  return fail_at(number.range, fmt::format("expected a number, found {}", text),
                 fmt::format("a version is text and needs quotes: \"{}\"", number.text));
}

bool NativeParser::parse_name(Expression& into) {
  const Token name = tokens_.take();
  if (tokens_.next_is(TokenKind::open_parenthesis) || tokens_.next_is(TokenKind::double_colon)) {
    return parse_call(name, into);
  }
  if (name.text == "true") return finish(into, name.range, BoolLiteral{true}, 0);
  if (name.text == "false") return finish(into, name.range, BoolLiteral{false}, 0);
  if (name.text == "null") return finish(into, name.range, NullLiteral{}, 0);
  return finish(into, name.range, Variable{std::string(name.text)}, 0);
}

bool NativeParser::parse_call(const Token& name, Expression& into) {
  FunctionCall call{std::string(name.text), name.range, {}, false};
  while (tokens_.take_if(TokenKind::double_colon)) {
    if (!tokens_.next_is(TokenKind::identifier)) {
      return fail_expected("a function name after \"::\"", "text such as an address needs quotes");
    }
    const Token part = tokens_.take();
    call.name.append("::").append(part.text);
    call.name_range.end = part.range.end;
  }
  if (tokens_.next_is(TokenKind::open_parenthesis)) return parse_arguments(std::move(call), name, into);
  return fail_expected(fmt::format("\"(\" after the function name {}", quoted_for_message(call.name)),
                       "text such as an address needs quotes");
}

bool NativeParser::parse_arguments(FunctionCall call, const Token& name, Expression& into) {
  int height = 0;
  Token close;
  {
    const Token opening = tokens_.take();
    const TokenStream::LineEnds free(tokens_, false);
    while (!tokens_.next_is(TokenKind::close_parenthesis)) {
      if (tokens_.next_is(TokenKind::end)) return fail_in_brackets(opening, "\")\"");
      if (!parse_expression(next_of(call.arguments))) return false;
      height = std::max(height, height_);
      call.expand_last = tokens_.take_if(TokenKind::ellipsis);
      if (tokens_.next_is(TokenKind::close_parenthesis)) break;
      if (call.expand_last) return fail_in_brackets(opening, "\")\" after \"...\"");
      if (!tokens_.take_if(TokenKind::comma)) {
        return fail_in_brackets(opening,
                                fmt::format("\",\" or \")\" after an argument of {}", quoted_for_message(call.name)));
      }
    }
    close = tokens_.take();
  }
  return finish(into, {name.range.start, close.range.end}, Boxed(std::move(call)), height);
}

bool NativeParser::parse_parentheses(Expression& into) {
  const Token opening = tokens_.take();
  Parentheses node;
  Token close;
  {
    const TokenStream::LineEnds free(tokens_, false);
    if (tokens_.next_is(TokenKind::end)) return fail_in_brackets(opening, "\")\"");
    if (!parse_boxed(node.inner)) return false;
    if (!tokens_.next_is(TokenKind::close_parenthesis)) return fail_in_brackets(opening, "\")\"");
    close = tokens_.take();
  }
  return finish(into, {opening.range.start, close.range.end}, std::move(node), height_);
}

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
        if (!parse_expression(next_of(tuple.items))) return false;
        height = std::max(height, height_);
        if (tokens_.next_is(TokenKind::close_bracket)) break;
        if (!tokens_.take_if(TokenKind::comma)) {
          return fail_in_brackets(opening, "\",\" or \"]\" after an item of the list",
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
      if (!parse_object_item(opening, next_of(object.items))) return false;
      height = std::max(height, height_);
      if (tokens_.next_is(TokenKind::close_brace)) break;
      if (!tokens_.take_if(TokenKind::comma) && !tokens_.take_if(TokenKind::newline)) {
        return fail_in_brackets(opening, "\",\", the end of the line or \"}\" after an item of the object");
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
    return fail_expected("a key or \"}\"", "put the comma on the line of the item before it");
  } else {
    if (!parse_expression(into.key)) return false;
    height = height_;
  }
  if (!tokens_.take_if(TokenKind::equal) && !tokens_.take_if(TokenKind::colon)) {
    return fail_in_brackets(opening, "\"=\" or \":\" after a key of the object");
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
    return fail_expected("the name of a variable after \"for\"",
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
    return fail_expected("\"in\" after the variables of \"for\"",
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
      return fail_in_brackets(opening, "\":\" after the collection of \"for\"");
    }
    if (!part(node.value)) return false;
    if (object) {
      if (!tokens_.take_if(TokenKind::arrow)) {
        return fail_in_brackets(opening, "\"=>\" after the key of a \"for\" in braces");
      }
      node.key = std::move(node.value);
      if (!part(node.value)) return false;
      node.grouping = tokens_.take_if(TokenKind::ellipsis);
    } else if (tokens_.next_is(TokenKind::arrow)) {
      return fail_expected("\"if\" or \"]\"", "a \"for\" with keys needs braces: {for k, v in c : k => v}");
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
