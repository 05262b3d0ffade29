#include <algorithm>

#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

// The maximum height that chains such as a + b + c or a.b.c, which nest on their left, may give to the tree of one
// expression. Trees are walked, and destroyed, by recursion.
constexpr int kMaxHeight = 4 * kMaxDepth;

struct Operator {
  BinaryOperator op;
  int level;  // higher binds tighter
};

std::optional<Operator> operator_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::logical_or:
      return Operator{BinaryOperator::logical_or, 1};
    case TokenKind::logical_and:
      return Operator{BinaryOperator::logical_and, 2};
    case TokenKind::equal_equal:
      return Operator{BinaryOperator::equal, 3};
    case TokenKind::not_equal:
      return Operator{BinaryOperator::not_equal, 3};
    case TokenKind::less:
      return Operator{BinaryOperator::less, 4};
    case TokenKind::less_equal:
      return Operator{BinaryOperator::less_equal, 4};
    case TokenKind::greater:
      return Operator{BinaryOperator::greater, 4};
    case TokenKind::greater_equal:
      return Operator{BinaryOperator::greater_equal, 4};
    case TokenKind::plus:
      return Operator{BinaryOperator::add, 5};
    case TokenKind::minus:
      return Operator{BinaryOperator::subtract, 5};
    case TokenKind::star:
      return Operator{BinaryOperator::multiply, 6};
    case TokenKind::slash:
      return Operator{BinaryOperator::divide, 6};
    case TokenKind::percent:
      return Operator{BinaryOperator::modulo, 6};
    default:
      return std::nullopt;
  }
}

ExpressionPtr boxed(Expression& expression) {
  return std::make_unique<Expression>(std::move(expression));
}

}  // namespace

bool NativeParser::height_is_fine(const Range& range) {
  if (height_ <= kMaxHeight) return true;
  add({.code = Code::limit_exceeded,
       .message = "this expression chains too many operators, more than " + std::to_string(kMaxHeight),
       .location = Location{path_, range},
       .hint = "split it, for example with local values"});
  return false;
}

bool NativeParser::parse_boxed(ExpressionPtr& into) {
  into = std::make_unique<Expression>();
  return parse_expression(*into);
}

bool NativeParser::parse_expression(Expression& into) {
  const Depth depth(*this);
  if (!depth_is_fine(tokens_.peek().range)) return false;
  if (!parse_binary(1, into)) return false;
  if (!tokens_.next_is(TokenKind::question)) return true;
  int height = height_;
  const Token question = tokens_.take();
  Conditional node;
  if (!parse_boxed(node.when_true)) return false;
  height = std::max(height, height_);
  if (!tokens_.next_is(TokenKind::colon)) {
    return fail_in_brackets(question, "\":\" and the value for when the condition is false");
  }
  tokens_.take();
  if (!parse_boxed(node.when_false)) return false;
  const Range range{into.range.start, node.when_false->range.end};
  node.condition = boxed(into);
  return finish(into, range, std::move(node), std::max(height, height_));
}

bool NativeParser::parse_binary(int lowest_level, Expression& into) {
  if (!parse_unary(into)) return false;
  while (true) {
    const auto found = operator_of(tokens_.peek().kind);
    if (!found || found->level < lowest_level) return true;
    tokens_.take();
    const int height = height_;
    Binary node{found->op, nullptr, std::make_unique<Expression>()};
    if (!parse_binary(found->level + 1, *node.right)) return false;
    const Range range{into.range.start, node.right->range.end};
    node.left = boxed(into);
    if (!finish(into, range, std::move(node), std::max(height, height_))) return false;
  }
}

bool NativeParser::parse_unary(Expression& into) {
  const bool minus = tokens_.next_is(TokenKind::minus);
  if (!minus && !tokens_.next_is(TokenKind::exclamation)) return parse_term(into) && parse_postfix(into);
  const Depth depth(*this);
  const Token sign = tokens_.take();
  if (!depth_is_fine(sign.range)) return false;
  Unary node{minus ? UnaryOperator::negate : UnaryOperator::logical_not, std::make_unique<Expression>()};
  if (!parse_unary(*node.operand)) return false;
  const Range range{sign.range.start, node.operand->range.end};
  return finish(into, range, std::move(node), height_);
}

bool NativeParser::parse_postfix(Expression& operand) {
  while (true) {
    if (tokens_.next_is(TokenKind::dot)) {
      if (!parse_dot(operand)) return false;
    } else if (tokens_.next_is(TokenKind::open_bracket)) {
      if (!parse_brackets(operand)) return false;
    } else {
      return true;
    }
  }
}

bool NativeParser::parse_dot(Expression& operand) {
  const Token dot = tokens_.take();
  if (!tokens_.next_is(TokenKind::star)) return parse_member(operand, dot);
  const int height = height_;
  const Token star = tokens_.take();
  Splat node{nullptr, std::make_unique<Expression>(), false};
  if (!finish(*node.each, {dot.range.start, star.range.end}, SplatItem{}, 0)) return false;
  // Only names follow an attribute splat; an index applies to the result of the splat.
  while (tokens_.next_is(TokenKind::dot)) {
    const Token next = tokens_.take();
    if (tokens_.next_is(TokenKind::star)) return fail_expected("an attribute name", "a splat cannot contain a splat");
    if (!parse_member(*node.each, next)) return false;
  }
  const Range range{operand.range.start, node.each->range.end};
  node.operand = boxed(operand);
  return finish(operand, range, std::move(node), std::max(height, height_));
}

// Reads after a "." that was taken: a name, or the number of a legacy index.
bool NativeParser::parse_member(Expression& operand, const Token& dot) {
  const Token member = tokens_.peek();
  const Range range{operand.range.start, member.range.end};
  if (member.kind == TokenKind::identifier) {
    tokens_.take();
    return finish(operand, range, GetAttribute{boxed(operand), std::string(member.text), member.range.start}, height_);
  }
  if (member.kind != TokenKind::number) {
    const bool bracket = member.kind == TokenKind::open_bracket;
    const bool quote = member.kind == TokenKind::open_quote;
    return fail_expected("an attribute name after \".\"", bracket ? "leave out the \".\" before \"[\""
                                                          : quote ? "write [\"name\"] instead of .\"name\""
                                                                  : "");
  }
  if (member.text.find_first_not_of("0123456789") != std::string_view::npos) {
    return fail_at({dot.range.start, member.range.end},
                   "expected one whole number as index after \".\", found \"" + std::string(member.text) + "\"",
                   "write indexes in brackets, as in a[0][0]; a version is text and needs quotes");
  }
  tokens_.take();
  Expression key{member.range, NumberLiteral{std::string(member.text)}};
  return finish(operand, range, Index{boxed(operand), boxed(key), true}, height_);
}

// `[key]`, or `[*]` and everything that follows.
bool NativeParser::parse_brackets(Expression& operand) {
  const Depth depth(*this);
  const int height = height_;
  const Token bracket = tokens_.take();
  if (!depth_is_fine(bracket.range)) return false;
  Index node;
  Token close;
  // Line endings are allowed around a key, but not around a star.
  const bool splat = tokens_.take_if(TokenKind::star);
  {
    const TokenStream::LineEnds free(tokens_, splat && tokens_.line_ends_count());
    if (!splat && !parse_boxed(node.key)) return false;
    if (!tokens_.next_is(TokenKind::close_bracket)) return fail_in_brackets(bracket, "\"]\" after the index");
    close = tokens_.take();
  }
  if (splat) return parse_splat(operand, {bracket.range.start, close.range.end}, height);
  const Range range{operand.range.start, close.range.end};
  node.operand = boxed(operand);
  return finish(operand, range, std::move(node), std::max(height, height_));
}

// Reads after a `[*]` that was taken. `height` is that of the operand.
bool NativeParser::parse_splat(Expression& operand, const Range& brackets, int height) {
  Splat node{nullptr, std::make_unique<Expression>(), true};
  if (!finish(*node.each, brackets, SplatItem{}, 0) || !parse_postfix(*node.each)) return false;
  const Range range{operand.range.start, node.each->range.end};
  node.operand = boxed(operand);
  return finish(operand, range, std::move(node), std::max(height, height_));
}

}  // namespace modlock::hcl
