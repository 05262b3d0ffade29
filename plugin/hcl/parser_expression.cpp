#include <algorithm>

#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

// How high the tree of one expression may grow by chains such as a + b + c or a.b.c, which nest on their left: trees
// are walked, and destroyed, by recursion.
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

ExpressionPtr boxed(Expression expression) {
  return std::make_unique<Expression>(std::move(expression));
}

}  // namespace

NativeParser::Parsed NativeParser::finish(const Range& range, decltype(Expression::node) node, int height_below) {
  height_ = height_below + 1;
  if (height_ <= kMaxHeight) return Expression{range, std::move(node)};
  add({.code = Code::limit_exceeded,
       .message = "this expression chains too many operators, more than " + std::to_string(kMaxHeight),
       .location = Location{path_, range},
       .hint = "split it, for example with local values"});
  return std::nullopt;
}

NativeParser::Parsed NativeParser::parse_expression() {
  const Depth depth(*this);
  if (!depth_is_fine(tokens_.peek().range)) return std::nullopt;
  auto condition = parse_binary(1);
  if (!condition || !tokens_.next_is(TokenKind::question)) return condition;
  int height = height_;
  const Token question = tokens_.take();
  auto when_true = parse_expression();
  if (!when_true) return std::nullopt;
  height = std::max(height, height_);
  if (!tokens_.next_is(TokenKind::colon)) {
    return fail_in_brackets(question, "\":\" and the value for when the condition is false");
  }
  tokens_.take();
  auto when_false = parse_expression();
  if (!when_false) return std::nullopt;
  const Range range{condition->range.start, when_false->range.end};
  Conditional node{boxed(std::move(*condition)), boxed(std::move(*when_true)), boxed(std::move(*when_false))};
  return finish(range, std::move(node), std::max(height, height_));
}

NativeParser::Parsed NativeParser::parse_binary(int lowest_level) {
  auto left = parse_unary();
  while (left) {
    const auto found = operator_of(tokens_.peek().kind);
    if (!found || found->level < lowest_level) break;
    tokens_.take();
    const int height = height_;
    auto right = parse_binary(found->level + 1);
    if (!right) return std::nullopt;
    const Range range{left->range.start, right->range.end};
    Binary node{found->op, boxed(std::move(*left)), boxed(std::move(*right))};
    left = finish(range, std::move(node), std::max(height, height_));
  }
  return left;
}

NativeParser::Parsed NativeParser::parse_unary() {
  const bool minus = tokens_.next_is(TokenKind::minus);
  if (!minus && !tokens_.next_is(TokenKind::exclamation)) {
    auto term = parse_term();
    return term ? parse_postfix(std::move(*term)) : std::nullopt;
  }
  const Depth depth(*this);
  const Token sign = tokens_.take();
  if (!depth_is_fine(sign.range)) return std::nullopt;
  auto operand = parse_unary();
  if (!operand) return std::nullopt;
  const Range range{sign.range.start, operand->range.end};
  return finish(range, Unary{minus ? UnaryOperator::negate : UnaryOperator::logical_not, boxed(std::move(*operand))},
                height_);
}

NativeParser::Parsed NativeParser::parse_postfix(Expression operand) {
  Parsed result = std::move(operand);
  while (result) {
    if (tokens_.next_is(TokenKind::dot)) {
      result = parse_dot(std::move(*result));
    } else if (tokens_.next_is(TokenKind::open_bracket)) {
      result = parse_brackets(std::move(*result));
    } else {
      break;
    }
  }
  return result;
}

NativeParser::Parsed NativeParser::parse_dot(Expression operand) {
  const Token dot = tokens_.take();
  if (!tokens_.next_is(TokenKind::star)) return parse_member(std::move(operand), dot);
  const int height = height_;
  const Token star = tokens_.take();
  Parsed each = finish({dot.range.start, star.range.end}, SplatItem{}, 0);
  // Only names follow an attribute splat; an index applies to what it results in.
  while (each && tokens_.next_is(TokenKind::dot)) {
    const Token next = tokens_.take();
    if (tokens_.next_is(TokenKind::star)) return fail_expected("an attribute name", "a splat cannot stand in a splat");
    each = parse_member(std::move(*each), next);
  }
  if (!each) return std::nullopt;
  const Range range{operand.range.start, each->range.end};
  Splat node{boxed(std::move(operand)), boxed(std::move(*each)), false};
  return finish(range, std::move(node), std::max(height, height_));
}

// What follows a "." that was taken: a name, or the number of a legacy index.
NativeParser::Parsed NativeParser::parse_member(Expression operand, const Token& dot) {
  const Token member = tokens_.peek();
  const Range range{operand.range.start, member.range.end};
  if (member.kind == TokenKind::identifier) {
    tokens_.take();
    GetAttribute node{boxed(std::move(operand)), std::string(member.text), member.range};
    return finish(range, std::move(node), height_);
  }
  if (member.kind != TokenKind::number) {
    const bool bracket = member.kind == TokenKind::open_bracket;
    const bool quote = member.kind == TokenKind::open_quote;
    return fail_expected("an attribute name behind \".\"", bracket ? "leave out the \".\" before \"[\""
                                                           : quote ? "write [\"name\"] instead of .\"name\""
                                                                   : "");
  }
  if (member.text.find_first_not_of("0123456789") != std::string_view::npos) {
    return fail_at({dot.range.start, member.range.end},
                   "expected one whole number as index behind \".\", found \"" + std::string(member.text) + "\"",
                   "write indexes in brackets, as in a[0][0]; a version is text and needs quotes");
  }
  tokens_.take();
  Expression key{member.range, NumberLiteral{std::string(member.text)}};
  return finish(range, Index{boxed(std::move(operand)), boxed(std::move(key)), true}, height_);
}

// `[key]`, or `[*]` and all that follows.
NativeParser::Parsed NativeParser::parse_brackets(Expression operand) {
  const Depth depth(*this);
  int height = height_;
  const Token bracket = tokens_.take();
  if (!depth_is_fine(bracket.range)) return std::nullopt;
  Parsed key;
  Token close;
  // Line ends are free round a key, but not round a star.
  const bool splat = tokens_.take_if(TokenKind::star);
  {
    const TokenStream::LineEnds free(tokens_, splat && tokens_.line_ends_count());
    if (!splat) {
      key = parse_expression();
      if (!key) return std::nullopt;
    }
    if (!tokens_.next_is(TokenKind::close_bracket)) return fail_in_brackets(bracket, "\"]\" behind the index");
    close = tokens_.take();
  }
  if (!splat) {
    const Range range{operand.range.start, close.range.end};
    height = std::max(height, height_);
    return finish(range, Index{boxed(std::move(operand)), boxed(std::move(*key)), false}, height);
  }
  Parsed each = finish({bracket.range.start, close.range.end}, SplatItem{}, 0);
  if (each) each = parse_postfix(std::move(*each));
  if (!each) return std::nullopt;
  const Range range{operand.range.start, each->range.end};
  Splat node{boxed(std::move(operand)), boxed(std::move(*each)), true};
  return finish(range, std::move(node), std::max(height, height_));
}

}  // namespace modlock::hcl
