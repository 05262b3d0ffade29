#include <fmt/format.h>

#include <utility>

#include "plugin/config/module_scope.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/convert.h"

namespace modlock {

using eval::Value;

Result<Value> ModuleScope::compute_variable(const VariableDeclaration& variable) {
  if (variable.problem) {
    return fail(located(*variable.problem));
  }
  auto value = caller_ == nullptr ? root_value(variable) : argument_value(variable);
  if (value) {
    value = fit(variable, std::move(*value));
  }
  if (!value) {
    return value;
  }
  return value->with_marks({.sensitive = variable.sensitive, .ephemeral = variable.ephemeral});
}

Result<Value> ModuleScope::root_value(const VariableDeclaration& variable) const {
  if (const VariableValues::VariableInput* given = values_->find(variable.name)) {
    return given_value(variable, *given);
  }
  if (variable.default_value) {
    return *variable.default_value;
  }
  if (variable.default_problem) {
    return fail(located(*variable.default_problem));
  }
  return fail(Error{
      .code = Code::config_non_static,
      .message = fmt::format("variable \"{}\" has no value and no default", variable.name),
      .location = at(variable.location),
      .hint = fmt::format("set it in terraform.tfvars, with --variable {0}=… or with TF_VAR_{0}", variable.name)});
}

Result<Value> ModuleScope::argument_value(const VariableDeclaration& variable) {
  if (const Argument argument = call_->find(variable.name); argument.attribute != nullptr) {
    return caller_->evaluate(argument, fmt::format("module.{}:var.{}", call_->name, variable.name), depth() + 1);
  }
  if (variable.default_value) {
    return *variable.default_value;
  }
  if (variable.default_problem) {
    return fail(located(*variable.default_problem));
  }
  if (caller_->module_->incomplete) {
    return fail(Error{.code = Code::config_parse, .message = {}});
  }
  return fail(Error{
      .code = Code::config_parse,
      .message = fmt::format("{} lacks the argument \"{}\", a variable without default", call_->title, variable.name),
      .location = caller_->at({call_->file->path, call_->block->header_range}),
      .related = {{"the variable is declared here", at(variable.location)}},
      .hint = fmt::format("add {} = … to the call", variable.name)});
}

// Text is not in a file: errors in it are located at the variable. The parser's messages quote the text, so they are
// left out for secret values.
Result<Value> ModuleScope::given_value(const VariableDeclaration& variable,
                                       const VariableValues::VariableInput& given) const {
  const bool secret = variable.sensitive || variable.ephemeral;
  if (given.expression != nullptr) {
    auto value = eval::constant_value(*given.expression, given.json, given.origin);
    if (!value && secret) {
      value.error().message = fmt::format("the value given for variable \"{}\" is not valid", variable.name);
      value.error().related.clear();
    }
    return value;
  }
  if (variable.takes_literal_text()) {
    return Value::string(given.text);
  }
  const hcl::Expression text{.range = {}, .node = hcl::JsonString{.text = given.text, .shifts = {}}};
  auto expression = hcl::expression_of(text, given.origin);
  auto value = expression ? eval::constant_value(*expression, false, given.origin)
                          : Result<Value>(fail(std::move(expression.error())));
  if (!value) {
    return fail(Error{.code = value.error().code,
                      .message = fmt::format("the value that {} gives for variable \"{}\" is not a valid expression{}",
                                             given.origin, variable.name, secret ? "" : ": " + value.error().message),
                      .location = at(variable.location),
                      .hint = "write it in the syntax of the configuration, for example [\"a\", \"b\"]"});
  }
  return value;
}

Result<Value> ModuleScope::fit(const VariableDeclaration& variable, Value value) const {
  if (variable.type.defaults != nullptr && !value.is_null()) {
    value = eval::apply_defaults(value, *variable.type.defaults);
  }
  auto converted = eval::convert(value, variable.type.type);
  if (!converted) {
    Error error{
        .code = Code::config_parse,
        .message = fmt::format("the given value is not suitable for var.{}: {}", variable.name, converted.error()),
        .location = place_of_value(variable),
        .related = {{"the variable is declared here", at(variable.location)}}};
    return fail(std::move(error));
  }
  if (!converted->is_null() || variable.nullable) {
    return std::move(*converted);
  }
  if (variable.default_value) {
    return *variable.default_value;
  }
  return fail(Error{.code = Code::config_parse,
                    .message = fmt::format("the given value is not suitable for var.{}: required variable may not be "
                                           "set to null",
                                           variable.name),
                    .location = place_of_value(variable),
                    .related = {{"the variable is declared here", at(variable.location)}}});
}

// The location of the variable's value; text has no location in a file.
Location ModuleScope::place_of_value(const VariableDeclaration& variable) const {
  if (caller_ != nullptr) {
    const Argument argument = call_->find(variable.name);
    return argument.attribute == nullptr ? at(variable.location)
                                         : Location{caller_->path_of(*argument.file), argument.attribute->value.range};
  }
  const VariableValues::VariableInput* given = values_->find(variable.name);
  return given == nullptr || given->expression == nullptr ? at(variable.location)
                                                          : Location{given->origin, given->expression->range};
}

}  // namespace modlock
