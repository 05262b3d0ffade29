#include <fmt/format.h>

#include <array>

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

bool is_bare_null(const Outcome& outcome) {
  return outcome && outcome->is_null() && outcome->is(Type::Kind::dynamic) && !outcome->marks().any();
}

// The type of the result; nullopt if the branches have none in common.
std::optional<Type> result_type(const Outcome& when_true, const Outcome& when_false) {
  if (is_bare_null(when_true)) return type_of(when_false);
  if (is_bare_null(when_false)) return type_of(when_true);
  const std::array types{type_of(when_true), type_of(when_false)};
  if (types[0].is(Type::Kind::dynamic) || types[1].is(Type::Kind::dynamic)) return Type::dynamic();
  return unify_unsafe(types);
}

std::string mismatch(const Type& when_true, const Type& when_false);

std::optional<std::string> object_mismatch(const Type& when_true, const Type& when_false) {
  for (const auto& [name, type] : when_true.attributes()) {
    const auto other = when_false.attributes().find(name);
    if (other == when_false.attributes().end()) {
      return fmt::format("the 'true' value includes object attribute \"{}\", which is absent in the 'false' value",
                         name);
    }
    if (!(type == other->second)) {
      return fmt::format("type mismatch for object attribute \"{}\": {}", name, mismatch(type, other->second));
    }
  }
  for (const auto& attribute : when_false.attributes()) {
    if (when_true.attributes().count(attribute.first) == 0) {
      return fmt::format("the 'false' value includes object attribute \"{}\", which is absent in the 'true' value",
                         attribute.first);
    }
  }
  return std::nullopt;
}

std::optional<std::string> tuple_mismatch(const Type& when_true, const Type& when_false) {
  const auto& left = when_true.items();
  const auto& right = when_false.items();
  if (left.size() != right.size()) {
    return fmt::format("the 'true' tuple has length {}, but the 'false' tuple has length {}", left.size(),
                       right.size());
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!(left[i] == right[i])) {
      return fmt::format("type mismatch for tuple element {}: {}", i, mismatch(left[i], right[i]));
    }
  }
  return std::nullopt;
}

std::optional<std::string> element_mismatch(const Type& when_true, const Type& when_false) {
  const Type& left = when_true.element();
  const Type& right = when_false.element();
  const bool structural = left.is(Type::Kind::object) || left.is(Type::Kind::tuple);
  if (!structural || left.kind() != right.kind()) return std::nullopt;
  const std::string_view noun = when_true.is(Type::Kind::list) ? "list" : when_true.is(Type::Kind::set) ? "set" : "map";
  return fmt::format("mismatched {} element types: {}", noun, mismatch(left, right));
}

// Describes the difference between two types that cannot be unified.
std::string mismatch(const Type& when_true, const Type& when_false) {
  std::optional<std::string> inner;
  if (when_true.kind() == when_false.kind()) {
    if (when_true.is(Type::Kind::object)) inner = object_mismatch(when_true, when_false);
    if (when_true.is(Type::Kind::tuple)) inner = tuple_mismatch(when_true, when_false);
    if (when_true.is_collection()) inner = element_mismatch(when_true, when_false);
  }
  if (inner) return std::move(*inner);
  const std::string left = when_true.friendly_name();
  const std::string right = when_false.friendly_name();
  if (left != right) return fmt::format("the 'true' value is {}, but the 'false' value is {}", left, right);
  return "at least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' "
         "value";
}

}  // namespace

// The operand, converted for the operator.
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

// If one side decides the result, errors of the other side do not matter.
Outcome Evaluator::logic(const hcl::Binary& node, const Range& range) {
  const Outcome left = operand(*node.left, Type::boolean(), "left");
  const Outcome right = operand(*node.right, Type::boolean(), "right");
  const bool deciding = node.op == Operator::logical_or;
  // A null is treated as false here, as in the reference implementation.
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

Outcome Evaluator::value_of(const hcl::Conditional& node, const hcl::Expression&) {
  const Branch when_true{evaluate(*node.when_true), node.when_true->range};
  const Branch when_false{evaluate(*node.when_false), node.when_false->range};
  return choose(*node.condition, when_true, when_false);
}

Outcome Evaluator::choose(const hcl::Expression& condition, const Branch& when_true, const Branch& when_false) {
  const std::optional<Type> type = result_type(when_true.outcome, when_false.outcome);
  if (!type) {
    return reject({when_true.range.start, when_false.range.end},
                  {fmt::format("inconsistent conditional result types: {}",
                               mismatch(type_of(when_true.outcome), type_of(when_false.outcome))),
                   "the true and false result expressions must have consistent types"});
  }
  const Outcome decision = evaluate(condition);
  if (!decision) return no_value(decision, *type);
  if (decision->is_null()) {
    return reject(condition.range,
                  {"null condition: the condition value is null", "conditions must either be true or false"}, *type);
  }
  const auto flag = convert(*decision, Type::boolean());
  if (!flag) {
    return reject(condition.range, {"incorrect condition type: the condition expression must be of type bool"}, *type);
  }
  const bool is_true = flag->as_bool();
  const Branch& taken = is_true ? when_true : when_false;
  if (!taken.outcome) return no_value(taken.outcome, *type);
  const auto result = type->is(Type::Kind::dynamic) ? *taken.outcome : convert(*taken.outcome, *type);
  if (!result) {
    return reject(taken.range,
                  {fmt::format("inconsistent conditional result types: the {} result value has the wrong "
                               "type: {}",
                               is_true ? "true" : "false", result.error())},
                  *type);
  }
  return result->with_marks(decision->marks() | marks_of(when_true.outcome) | marks_of(when_false.outcome));
}

}  // namespace modlock::eval
