#include "plugin/eval/evaluator.h"

#include <fmt/format.h>

#include "plugin/eval/evaluate.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

Problem exceeded(std::string message) {
  return {std::move(message), "compute less, or write a literal value", Code::limit_exceeded};
}

}  // namespace

Outcome Evaluator::evaluate(const hcl::Expression& expression) {
  const DepthGuard entered(run_.depth);
  if (run_.depth > kMaxDepth) {
    return reject(expression.range,
                  {fmt::format("templates in this expression are nested deeper than {} levels", kMaxDepth),
                   {},
                   Code::limit_exceeded});
  }
  if (auto problem = run_.budget.take_step()) return reject(expression.range, std::move(*problem));
  return std::visit([&](const auto& node) { return value_of(node, expression); }, expression.node);
}

tl::unexpected<NoValue> Evaluator::reject(Error error, Type type) {
  return no_value(NoValue{std::make_shared<const Error>(std::move(error)), std::move(type)});
}

tl::unexpected<NoValue> Evaluator::reject(const Range& range, Problem problem, Type type) const {
  return reject({.code = problem.code,
                 .message = std::move(problem.message),
                 .location = Location{path_, range},
                 .hint = std::move(problem.hint)},
                std::move(type));
}

Outcome Evaluator::within_limits(Value value, const Range& range) {
  if (auto problem = run_.budget.take_value(value)) return reject(range, std::move(*problem));
  return value;
}

Outcome Evaluator::value_of(const hcl::NullLiteral&, const hcl::Expression&) {
  return Value();
}
Outcome Evaluator::value_of(const hcl::BoolLiteral& node, const hcl::Expression&) {
  return Value::boolean(node.value);
}

Outcome Evaluator::value_of(const hcl::NumberLiteral& node, const hcl::Expression& at) {
  auto number = Number::parse(node.text);
  if (!number)
    return reject(at.range, {"this number is too large or too small to compute with", {}, Code::limit_exceeded});
  return Value::number(std::move(*number));
}

Outcome Evaluator::value_of(const hcl::Parentheses& node, const hcl::Expression&) {
  return evaluate(*node.inner);
}

Outcome Evaluator::value_of(const hcl::JsonString&, const hcl::Expression& at) {
  return evaluate(needs_.strings.at(&at));
}

const Outcome* Evaluator::bound_value(std::string_view name) const {
  for (auto binding = bindings_.rbegin(); binding != bindings_.rend(); ++binding) {
    if (binding->name == name) return &binding->value;
  }
  return nullptr;
}

Outcome Evaluator::referred(const Value& value, const Range& range) {
  if (auto problem = run_.budget.take_copy(value)) return reject(range, std::move(*problem));
  return value;
}

Outcome Evaluator::value_of(const hcl::Variable& node, const hcl::Expression& at) {
  if (const Outcome* bound = bound_value(node.name)) return *bound;
  const auto variable = names_.variables.find(node.name);
  if (variable != names_.variables.end()) return referred(variable->second, at.range);
  if (names_.refused) return reject_name(node.name, at.range);
  return referred(names_.references.at({node.name, {}}), at.range);
}

tl::unexpected<NoValue> Evaluator::reject_name(std::string_view name, const Range& range) const {
  return reject(
      range, {fmt::format("variables not allowed: expected a literal value, found {}", name), "write a literal value"});
}

Outcome Evaluator::value_of(const hcl::Tuple& node, const hcl::Expression& at) {
  Value::Items items;
  std::vector<Type> types;
  NoValue reason;
  for (const hcl::Expression& expression : node.items) {
    Outcome item = evaluate(expression);
    types.push_back(type_of(item));
    if (item) items.push_back(std::move(*item));
    if (!item && !reason.error) reason.error = std::move(item).error().error;
  }
  if (items.size() == types.size()) return within_limits(Value::tuple(std::move(items)), at.range);
  reason.type = Type::tuple(std::move(types));
  return no_value(std::move(reason));
}

Outcome Evaluator::value_of(const hcl::Object& node, const hcl::Expression& at) {
  Value::Members members;
  std::map<std::string, Type> types;
  Marks marks;
  NoValue reason;
  bool complete = true;
  for (const hcl::ObjectItem& item : node.items) {
    Outcome key = object_key(item);
    if (!key) return no_value(key);
    marks = marks | key->marks();
    Outcome value = evaluate(item.value);
    const bool added = types.insert_or_assign(key->as_string(), type_of(value)).second;
    if (!added && std::holds_alternative<hcl::JsonString>(item.key.node)) {
      const std::string name = key->marks().any() ? "an attribute of the same name"
                                                  : "an attribute named " + hcl::quoted_for_message(key->as_string());
      return reject(item.key.range, {fmt::format("duplicate object attribute: {} was already defined", name)});
    }
    if (value) {
      members.insert_or_assign(key->as_string(), std::move(*value));
      continue;
    }
    complete = false;
    if (!reason.error) reason.error = std::move(value).error().error;
  }
  if (complete) return within_limits(Value::object(std::move(members)).with_marks(marks), at.range);
  reason.type = Type::object(std::move(types));
  return no_value(std::move(reason));
}

// The key as a string, with its marks.
Outcome Evaluator::object_key(const hcl::ObjectItem& item) {
  if (item.bare_key) return Value::string(std::get<hcl::Variable>(item.key.node).name);
  const hcl::Expression* root = &item.key;
  while (true) {
    if (const auto* attribute = std::get_if<hcl::GetAttribute>(&root->node)) {
      root = attribute->operand.get();
    } else if (const auto* index = std::get_if<hcl::Index>(&root->node)) {
      root = index->operand.get();
    } else {
      break;
    }
  }
  if (root != &item.key && std::holds_alternative<hcl::Variable>(root->node)) {
    return reject(item.key.range, {"ambiguous attribute key: this may be a reference or a name with dots",
                                   "wrap it in parentheses for the reference, in quotes for the name"});
  }
  return required(item.key, Type::string(), {"null value as key: can't use a null value as a key"},
                  "incorrect key type: can't use this value as a key");
}

Outcome Evaluator::required(const hcl::Expression& expression, const Type& type, Problem null, std::string_view wrong) {
  const Outcome value = evaluate(expression);
  if (!value) return no_value(value);
  if (value->is_null()) return reject(expression.range, std::move(null));
  auto converted = convert(*value, type);
  if (converted) return std::move(*converted);
  return reject(expression.range, {fmt::format("{}: {}", wrong, converted.error())});
}

std::optional<Problem> Budget::take_step() {
  if (++steps_ <= kMaxSteps) return std::nullopt;
  return exceeded(fmt::format("this expression takes more than {} steps to compute", kMaxSteps));
}

std::optional<Problem> Budget::take_text(std::size_t bytes) {
  text_ += bytes;
  if (text_ <= kMaxTextBytes) return std::nullopt;
  return exceeded(fmt::format("this expression makes more than {} bytes of text", kMaxTextBytes));
}

std::optional<Problem> Budget::take_copy(const Value& value) {
  if (!value.is_null() && value.is(Type::Kind::string)) return take_text(value.as_string().size());
  if (value.type().height() > kMaxNesting) {
    return exceeded(fmt::format("this value is nested deeper than {} levels", kMaxNesting));
  }
  // The weight counts a shared part in each place: such a value is small in memory, but slow to walk.
  if (elements_ <= kMaxElements && value.weight() <= kMaxElements) return std::nullopt;
  return exceeded(fmt::format("this expression makes a value of more than {} elements", kMaxElements));
}

std::optional<Problem> Budget::take_value(const Value& value) {
  if (!value.is_null() && !value.type().is_primitive()) elements_ += value.size();
  return take_copy(value);
}

Result<Value> evaluate(const hcl::Expression& expression, const std::string& path, Scope& scope) {
  MODLOCK_TRY(const Dependencies needs, collect_dependencies(expression, path));
  Names names;
  for (const Reference& reference : needs.references) {
    const std::pair key{reference.object, reference.attribute};
    if (names.references.count(key) != 0) continue;
    MODLOCK_TRY(Value value, scope.resolve(reference));
    names.references.emplace(key, std::move(value));
  }
  Run run{&scope.files(), &scope};
  Outcome outcome = Evaluator(needs, names, path, run).evaluate(expression);
  // Only names of a for expression are unknown without an error, and none is bound here.
  if (!outcome) return fail(*outcome.error().error);
  return std::move(*outcome);
}

}  // namespace modlock::eval
