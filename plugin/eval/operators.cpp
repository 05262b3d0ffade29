#include <fmt/format.h>

#include "plugin/eval/evaluator.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

using Operator = hcl::BinaryOperator;

Problem null_operand() {
  return {"operation failed: error during operation: argument must not be null"};
}

bool compare(Operator op, const Number& left, const Number& right) {
  if (op == Operator::less) return left < right;
  if (op == Operator::less_equal) return left <= right;
  if (op == Operator::greater) return left > right;
  return left >= right;
}

bool is_comparison(Operator op) {
  return op == Operator::less || op == Operator::less_equal || op == Operator::greater || op == Operator::greater_equal;
}

// nullopt for a division by zero.
std::optional<Number> compute(Operator op, const Number& left, const Number& right) {
  if (op == Operator::add) return left + right;
  if (op == Operator::subtract) return left - right;
  if (op == Operator::multiply) return left * right;
  if (op == Operator::divide) return left.divided_by(right);
  return left.modulo(right);
}

bool equal(const Value& left, const Value& right) {
  if (left.is_null() || right.is_null()) return left.is_null() && right.is_null();
  return left.equals(right);
}

}  // namespace

// The operand as the operator wants it.
Outcome Evaluator::operand(const hcl::Expression& expression, const Type& type, std::string_view which) {
  Outcome value = evaluate(expression);
  if (!value) return no_value(value, type);
  auto suitable = convert(*value, type);
  if (suitable) return std::move(*suitable);
  return reject(expression.range,
                {fmt::format("invalid operand: unsuitable value for {} operand: {}", which, suitable.error())}, type);
}

Outcome Evaluator::value_of(const hcl::Unary& node, const hcl::Expression& at) {
  const bool negate = node.op == hcl::UnaryOperator::negate;
  const Type type = negate ? Type::number() : Type::boolean();
  const Outcome value = operand(*node.operand, type, "unary");
  if (!value) return value;
  if (value->is_null()) return reject(at.range, null_operand(), type);
  const Value result = negate ? Value::number(-value->as_number()) : Value::boolean(!value->as_bool());
  return result.with_marks(value->marks());
}

Outcome Evaluator::value_of(const hcl::Binary& node, const hcl::Expression& at) {
  switch (node.op) {
    case Operator::equal:
    case Operator::not_equal:
      return equality(node);
    case Operator::logical_and:
    case Operator::logical_or:
      return logic(node, at.range);
    default:
      return arithmetic(node, at.range);
  }
}

Outcome Evaluator::equality(const hcl::Binary& node) {
  const Outcome left = evaluate(*node.left);
  const Outcome right = evaluate(*node.right);
  if (!left || !right) return no_value(failed(left) || right ? left : right, Type::boolean());
  const bool same = equal(*left, *right);
  return Value::boolean(same == (node.op == Operator::equal)).with_marks(left->deep_marks() | right->deep_marks());
}

// One side alone may decide; what is wrong with the other one does not matter then.
Outcome Evaluator::logic(const hcl::Binary& node, const Range& range) {
  const Outcome left = operand(*node.left, Type::boolean(), "left");
  const Outcome right = operand(*node.right, Type::boolean(), "right");
  const bool deciding = node.op == Operator::logical_or;
  // A null counts as false here, as in the reference implementation.
  const auto decides = [deciding](const Outcome& side) {
    return side && (!side->is_null() && side->as_bool()) == deciding;
  };
  const Marks marks = marks_of(left) | marks_of(right);
  if (decides(left) || decides(right)) return Value::boolean(deciding).with_marks(marks);
  if (!left || !right) return no_value(left ? right : left, Type::boolean());
  if (left->is_null() || right->is_null()) return reject(range, null_operand(), Type::boolean());
  return Value::boolean(!deciding).with_marks(marks);
}

Outcome Evaluator::arithmetic(const hcl::Binary& node, const Range& range) {
  const Outcome left = operand(*node.left, Type::number(), "left");
  const Outcome right = operand(*node.right, Type::number(), "right");
  const Type type = is_comparison(node.op) ? Type::boolean() : Type::number();
  if (!left || !right) return no_value(failed(left) || right ? left : right, type);
  if (left->is_null() || right->is_null()) return reject(range, null_operand(), type);
  const Number& a = left->as_number();
  const Number& b = right->as_number();
  const Marks marks = left->marks() | right->marks();
  if (is_comparison(node.op)) return Value::boolean(compare(node.op, a, b)).with_marks(marks);
  if (node.op == Operator::divide && a == Number() && b == Number()) {
    return reject(
        range, {"operation failed: error during operation: can't divide zero by zero or infinity by infinity"}, type);
  }
  const auto result = compute(node.op, a, b);
  if (result && result->is_finite()) return Value::number(*result).with_marks(marks);
  return reject(
      range, {"the result of this operation is infinite or too large to compute with", {}, Code::limit_exceeded}, type);
}

}  // namespace modlock::eval
