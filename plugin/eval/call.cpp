#include <fmt/format.h>

#include <array>

#include "backends/base/text.h"
#include "plugin/eval/evaluate.h"
#include "plugin/eval/evaluator.h"
#include "plugin/eval/type_constraint.h"
#include "plugin/value/convert.h"

namespace modlock::eval {

// A function that needs more than the plain values of its arguments: marks, expressions, or an evaluator.
struct Evaluator::SpecialFunction {
  Function signature;  // call: null
  Outcome (Evaluator::*run)(const Invocation& invocation);
  bool lazy = false;  // arguments are not evaluated before the call
};

namespace {

// Errors that try() and can() catch. All other errors mean that there is no value here, although OpenTofu may have one.
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

// The value without its own marks; the marks of its parts are kept.
Value unmarked(const Value& value) {
  if (value.is_null()) return Value::null(value.type());
  if (value.type().is_primitive()) return value.without_marks();
  const bool sequence = !value.is(Type::Kind::map) && !value.is(Type::Kind::object);
  return sequence ? rebuilt(value, value.items(), {}) : rebuilt(value, {}, value.members());
}

// The value with its ephemeral parts replaced by nulls.
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

constexpr std::string_view kCore = "core::";

std::string_view without_namespace(std::string_view name) {
  if (name.starts_with(kCore)) name.remove_prefix(kCore.size());
  return name;
}

Problem unknown_function(std::string_view written) {
  const std::string_view name = without_namespace(written);
  if (const auto why = why_not_evaluated(name)) {
    return {fmt::format("function \"{}\" is not evaluated here: {}", name, *why), {}, Code::config_non_static};
  }
  if (name.find("::") != std::string_view::npos) {
    return {
        fmt::format("unknown function namespace: function \"{}\" does not exist within a valid namespace "
                    "(provider, core)",
                    written)};
  }
  const auto nearest = nearest_name(name, function_names());
  return {fmt::format("call to unknown function: there is no function named \"{}\"", written),
          nearest ? fmt::format("did you mean \"{}\"?", *nearest) : ""};
}

// The parameter of an argument; null if there is none.
const Parameter* parameter_of(const Function& function, std::size_t argument) {
  if (argument < function.parameters.size()) return &function.parameters[argument];
  return function.variadic ? &*function.variadic : nullptr;
}

std::optional<Problem> wrong_count(std::string_view name, const Function& function, std::size_t given) {
  const std::size_t wanted = function.parameters.size();
  if (given < wanted) {
    return Problem{
        fmt::format("not enough function arguments: function \"{}\" expects{} {} argument(s), missing value "
                    "for \"{}\"",
                    name, function.variadic ? " at least" : "", wanted, function.parameters[given].name)};
  }
  if (given == wanted || function.variadic) return std::nullopt;
  return Problem{fmt::format("too many function arguments: function \"{}\" expects only {} argument(s)", name, wanted)};
}

}  // namespace

const Evaluator::SpecialFunction* Evaluator::find_special(std::string_view name) {
  const Parameter any{.name = "value", .allow_null = true};
  static const std::array<SpecialFunction, 9> functions = {{
      {{"try", {}, nullptr, Parameter{"expressions"}}, &Evaluator::try_each, true},
      {{"can", {{"expression"}}}, &Evaluator::can, true},
      {{"convert", {any, {"type"}}}, &Evaluator::convert_value, true},
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

// OpenTofu 1.13 and Terraform 1.15.
Outcome Evaluator::convert_value(const Invocation& invocation) {
  auto target = parse_type_constraint(invocation.arguments[1].expression, path_);
  if (!target) return reject(std::move(target.error()));
  const Outcome value = argument_value(invocation.arguments[0]);
  if (!value) return no_value(value, target->type);
  const bool has_defaults = target->defaults != nullptr && !value->is_null();
  auto converted = convert(has_defaults ? apply_defaults(*value, *target->defaults) : *value, target->type);
  return converted ? Outcome(std::move(*converted)) : reject_call(invocation, {0, converted.error()});
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

Outcome Evaluator::value_of(const hcl::FunctionCall& node, const hcl::Expression& at) {
  if (names_.refused) {
    return reject(at.range, {fmt::format("function calls not allowed: expected a literal value, found {}()", node.name),
                             "write a literal value"});
  }
  const std::string_view name = without_namespace(node.name);
  const SpecialFunction* special = find_special(name);
  const Function* function = special != nullptr ? &special->signature : find_function(name);
  if (function == nullptr && run_.scope != nullptr) function = run_.scope->find_function(name);
  if (function == nullptr) return reject(node.name_range, unknown_function(node.name));
  const auto arguments = expanded(node);
  if (!arguments) return no_value(arguments.error());
  if (auto problem = wrong_count(node.name, *function, arguments->size())) {
    const std::size_t wanted = function->parameters.size();
    return reject(arguments->size() > wanted ? (*arguments)[wanted].expression.range : at.range, std::move(*problem));
  }
  Invocation invocation{node, at.range, *arguments, *function, {}};
  if (special == nullptr || !special->lazy) {
    if (auto reason = evaluate_arguments(invocation)) return no_value(std::move(*reason));
  }
  Outcome result = special != nullptr ? (this->*special->run)(invocation) : call_function(invocation);
  return result ? within_limits(std::move(*result), at.range) : result;
}

// The arguments one by one: `f(list...)` has one for each item.
tl::expected<Evaluator::Arguments, NoValue> Evaluator::expanded(const hcl::FunctionCall& call) {
  Arguments arguments;
  for (const hcl::Expression& expression : call.arguments) arguments.push_back({expression});
  if (!call.expand_last) return arguments;
  const hcl::Expression& last = call.arguments.back();
  arguments.pop_back();
  const Outcome list = evaluate(last);
  if (!list) return no_value(list);
  const bool sequence = list->is(Type::Kind::list) || list->is(Type::Kind::set) || list->is(Type::Kind::tuple);
  if (list->is_null() && (sequence || list->is(Type::Kind::dynamic))) {
    return reject(last.range,
                  {"invalid expanding argument value: the expanding argument (indicated by ...) must not be "
                   "null"});
  }
  if (!sequence) {
    return reject(last.range, {"invalid expanding argument value: the expanding argument (indicated by ...) must be of "
                               "a tuple, list, or set type"});
  }
  for (const Value& item : list->items()) arguments.push_back({last, item.with_marks(list->marks())});
  return arguments;
}

Outcome Evaluator::argument_value(const Argument& argument) {
  return argument.item ? *argument.item : evaluate(argument.expression);
}

// All arguments are computed before any is checked for null.
std::optional<NoValue> Evaluator::evaluate_arguments(Invocation& invocation) {
  bool unknown = false;
  for (const Argument& argument : invocation.arguments) {
    const Parameter& parameter = *parameter_of(invocation.function, invocation.values.size());
    const Outcome value = argument_value(argument);
    if (failed(value)) return NoValue{value.error().error};
    unknown = unknown || !value;
    auto suitable = convert(value.value_or(Value()), parameter.type);
    if (!suitable) {
      return reject(argument.expression.range, {fmt::format("invalid function argument: invalid value for \"{}\" "
                                                            "parameter: {}",
                                                            parameter.name, suitable.error())})
          .value();
    }
    invocation.values.push_back(std::move(*suitable));
  }
  if (unknown) return NoValue{};
  for (std::size_t i = 0; i < invocation.values.size(); ++i) {
    if (!invocation.values[i].is_null() || parameter_of(invocation.function, i)->allow_null) continue;
    return reject_call(invocation, {i, "argument must not be null"}).value();
  }
  return std::nullopt;
}

Outcome Evaluator::call_function(const Invocation& invocation) {
  Marks marks;
  Value::Items plain;
  plain.reserve(invocation.values.size());
  for (const Value& value : invocation.values) {
    marks = marks | value.deep_marks();
    plain.push_back(value.without_marks());
  }
  auto result =
      invocation.function.call({.arguments = plain, .files = *run_.files, .may_show_arguments = !marks.any()});
  if (!result) return reject_call(invocation, std::move(result).error());
  return result->with_marks(marks);
}

Error Evaluator::call_error(const Invocation& invocation, FunctionError error) const {
  const Parameter* parameter = error.argument ? parameter_of(invocation.function, *error.argument) : nullptr;
  if (parameter == nullptr) {
    return {.code = error.code,
            .message = fmt::format("error in function call: call to function \"{}\" failed: {}", invocation.call.name,
                                   error.message),
            .location = Location{path_, invocation.range}};
  }
  // An error may be about a variadic parameter that has no argument.
  const bool given = *error.argument < invocation.arguments.size();
  const Range& range = given ? invocation.arguments[*error.argument].expression.range : invocation.range;
  return {.code = error.code,
          .message = fmt::format("invalid function argument: invalid value for \"{}\" parameter: {}", parameter->name,
                                 error.message),
          .location = Location{path_, range},
          .hint = error.code == Code::path_outside_root
                      ? "keep the file below the root, or allow its directory with --workspace-root"
                      : ""};
}

}  // namespace modlock::eval
