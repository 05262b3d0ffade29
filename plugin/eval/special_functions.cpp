#include "plugin/eval/special_functions.h"

#include <array>

namespace modlock::eval {
namespace {

// What try() and can() take for an answer. All other errors say that we have no value where OpenTofu may have one.
bool is_catchable(const Error& error) {
  return error.code == Code::config_parse || error.code == Code::not_found;
}

Value rebuilt(const Value& value, Value::Items items, Value::Members members) {
  switch (value.type().kind()) {
    case Type::Kind::list:
      return Value::list(value.type().element(), std::move(items));
    case Type::Kind::set:
      return Value::set(value.type().element(), std::move(items));
    case Type::Kind::map:
      return Value::map(value.type().element(), std::move(members));
    case Type::Kind::tuple:
      return Value::tuple(std::move(items));
    default:
      return Value::object(std::move(members));
  }
}

// The value without marks of its own; those of what is in it stay.
Value unmarked(const Value& value) {
  if (value.is_null()) return Value::null(value.type());
  if (value.type().is_primitive()) return value.without_marks();
  const bool sequence = !value.is(Type::Kind::map) && !value.is(Type::Kind::object);
  return sequence ? rebuilt(value, value.items(), {}) : rebuilt(value, {}, value.members());
}

// The value with nulls for all that is ephemeral in it.
Value without_ephemeral(const Value& value) {
  if (!value.deep_marks().ephemeral) return value;
  const Marks kept{.sensitive = value.marks().sensitive};
  if (value.is_null() || value.marks().ephemeral) return Value::null(value.type()).with_marks(kept);
  Value::Items items;
  Value::Members members;
  if (value.is(Type::Kind::map) || value.is(Type::Kind::object)) {
    for (const auto& [key, member] : value.members()) members.emplace(key, without_ephemeral(member));
  } else {
    for (const Value& item : value.items()) items.push_back(without_ephemeral(item));
  }
  return rebuilt(value, std::move(items), std::move(members)).with_marks(kept);
}

}  // namespace

const Evaluator::SpecialFunction* Evaluator::find_special(std::string_view name) {
  const Parameter any{.name = "value", .allow_null = true};
  static const std::array<SpecialFunction, 8> functions = {{
      {{"try", {}, Parameter{"expressions"}}, &Evaluator::try_each, true},
      {{"can", {{"expression"}}}, &Evaluator::can, true},
      {{"sensitive", {any}}, &Evaluator::sensitive},
      {{"nonsensitive", {any}}, &Evaluator::nonsensitive},
      {{"issensitive", {any}}, &Evaluator::issensitive},
      {{"ephemeralasnull", {any}}, &Evaluator::ephemeralasnull},
      {{"templatefile", {{"path", Type::string()}, {"vars"}}}, &Evaluator::templatefile},
      {{"templatestring", {{"data", Type::string()}, {"vars"}}}, &Evaluator::templatestring},
  }};
  for (const SpecialFunction& function : functions) {
    if (function.signature.name == name) return &function;
  }
  return nullptr;
}

Outcome Evaluator::try_each(const Invocation& invocation) {
  if (invocation.arguments.empty()) return reject_call(invocation, {{}, "at least one argument is required"});
  std::vector<Related> failures;
  for (const Argument& argument : invocation.arguments) {
    const Outcome value = argument_value(argument);
    if (!failed(value)) return value;
    const Error& error = *value.error().error;
    if (!is_catchable(error)) return value;
    failures.push_back({error.message, *error.location});
  }
  Error error = call_error(invocation, {{}, "no expression succeeded"});
  error.related = std::move(failures);
  error.hint = "at least one expression must produce a successful result";
  return reject(std::move(error));
}

Outcome Evaluator::can(const Invocation& invocation) {
  const Outcome value = argument_value(invocation.arguments.front());
  if (value || (failed(value) && is_catchable(*value.error().error))) return Value::boolean(value.has_value());
  return no_value(value, Type::boolean());
}

Outcome Evaluator::sensitive(const Invocation& invocation) {
  return invocation.values.front().with_marks({.sensitive = true});
}

Outcome Evaluator::nonsensitive(const Invocation& invocation) {
  const Value& value = invocation.values.front();
  if (!value.marks().sensitive) return value;
  return unmarked(value).with_marks({.ephemeral = value.marks().ephemeral});
}

Outcome Evaluator::issensitive(const Invocation& invocation) {
  return Value::boolean(invocation.values.front().marks().sensitive);
}

Outcome Evaluator::ephemeralasnull(const Invocation& invocation) {
  return without_ephemeral(invocation.values.front());
}

}  // namespace modlock::eval
