#include <fmt/format.h>

#include <array>

#include "plugin/eval/evaluator.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

bool is_bare_null(const Outcome& outcome) {
  return outcome && outcome->is_null() && outcome->is(Type::Kind::dynamic) && !outcome->marks().any();
}

// The type of the result; nullopt where the branches have none in common.
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

// What differs between two types that cannot be unified.
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
