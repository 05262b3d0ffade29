#include "plugin/config/module_scope.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "backends/base/text.h"
#include "plugin/eval/evaluate.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

using eval::Reference;
using eval::Value;

std::string name_of(const Reference& reference) {
  return reference.attribute.empty() ? std::string(reference.object)
                                     : fmt::format("{}.{}", reference.object, reference.attribute);
}

tl::unexpected<Error> reject(Code code, const Reference& reference, std::string message, std::string hint = {}) {
  return fail(
      Error{.code = code, .message = std::move(message), .location = reference.location, .hint = std::move(hint)});
}

// Reports a name that lacks the one or two attributes it needs.
tl::unexpected<Error> incomplete(const Reference& reference) {
  const std::string_view object = reference.object;
  if (object == "data" || object == "ephemeral" || object == "resource") {
    return reject(Code::config_parse, reference,
                  fmt::format("the \"{}\" object must be followed by two attribute names, a type and a name", object));
  }
  constexpr std::array<std::string_view, 8> kObjects = {"count", "each", "local",     "module",
                                                        "path",  "var",  "terraform", "tofu"};
  for (const std::string_view known : kObjects) {
    if (object == known) {
      return reject(Code::config_parse, reference,
                    fmt::format("the \"{}\" object cannot be accessed directly, only its attributes can", object));
    }
  }
  return reject(
      Code::config_parse, reference,
      fmt::format("a reference to a resource type must be followed by the name of a resource, found \"{}\"", object),
      "put text in quotes; write var.name for a variable and local.name for a local value");
}

tl::unexpected<Error> dynamic(const Reference& reference, ClientKind tool, const std::string& needed_by) {
  const std::string_view object = reference.object;
  if (object == "template" || object == "lazy" || object == "arg") {
    return reject(Code::config_parse, reference,
                  fmt::format("the symbol name \"{}\" is reserved for a future OpenTofu version", object));
  }
  if (reference.attribute.empty() && object != "self") {
    return incomplete(reference);
  }
  const std::string_view what =
      object == "module" ? "Module output not supported in static context" : "Dynamic value in static context";
  return reject(Code::config_non_static, reference,
                fmt::format("{}: {} is not known before plan, and {} needs it", what, name_of(reference), needed_by),
                tool == ClientKind::terraform
                    ? "use only const variables, local values and path.* here"
                    : "use only variables, local values, path.* and terraform.workspace here");
}

}  // namespace

ModuleScope::ModuleScope(std::shared_ptr<const ParsedModule> module, const ScopeContext& environment,
                         std::string module_path, std::shared_ptr<const VariableValues> values)
    : module_(std::move(module)),
      environment_(environment),
      module_path_(std::move(module_path)),
      values_(std::move(values)) {}

ModuleScope::ModuleScope(std::shared_ptr<const ParsedModule> module, const ScopeContext& environment,
                         std::string module_path, std::shared_ptr<ModuleScope> caller, const ModuleCallSyntax& call)
    : module_(std::move(module)),
      environment_(environment),
      module_path_(std::move(module_path)),
      caller_(std::move(caller)),
      call_(&call) {}

Result<Value> ModuleScope::evaluate_argument(const Argument& argument, std::string_view title) {
  // Terraform ignores the names in the part of a conditional that is not selected.
  if (environment_.tool == ClientKind::terraform && !argument.file->json) {
    if (auto constant = eval::constant_value(argument.attribute->value, false, path_of(*argument.file))) {
      return constant;
    }
  }
  return evaluate(argument,
                  title.empty() ? fmt::format("the argument \"{}\"", argument.attribute->name) : std::string(title), 1);
}

Result<Value> ModuleScope::evaluate(const Argument& argument, std::string title, std::size_t depth) {
  const Frame frame{.outer = innermost_, .title = std::move(title), .depth = depth};
  innermost_ = &frame;
  auto value = eval::evaluate(argument.attribute->value, path_of(*argument.file), *this);
  innermost_ = frame.outer;
  return value;
}

Result<Value> ModuleScope::resolve(const Reference& reference) {
  const std::string_view object = reference.object;
  const bool named = !reference.attribute.empty();
  if (named && object == "local") {
    return resolve_local(reference);
  }
  if (named && object == "var") {
    return resolve_variable(reference);
  }
  if (named && object == "path") {
    return resolve_path(reference);
  }
  if (named && tool() == ClientKind::opentofu && (object == "terraform" || object == "tofu")) {
    return resolve_terraform(reference);
  }
  return dynamic(reference, tool(), needed_by());
}

Result<Value> ModuleScope::resolve_local(const Reference& reference) {
  const Argument local = module_->locals.find(reference.attribute);
  if (local.attribute == nullptr) {
    if (module_->incomplete) {
      return reject(Code::config_parse, reference, {});
    }
    return reject(
        Code::config_parse, reference,
        fmt::format("undefined local {}: no local value of that name is defined in this module", name_of(reference)),
        did_you_mean(reference.attribute, module_->locals.names()));
  }
  auto kept = locals_.find(local.attribute->name);
  if (kept == locals_.end()) {
    if (depth() >= kMaxChain) {
      return reject(
          Code::limit_exceeded, reference,
          fmt::format("{} is at the end of a chain of more than {} references", name_of(reference), kMaxChain));
    }
    kept = locals_.emplace(local.attribute->name, std::nullopt).first;
    kept->second = evaluate(local, name_of(reference), depth() + 1);
  } else if (!kept->second) {
    return fail(circular(reference));
  }
  return with_reference(*kept->second, reference);
}

Result<Value> ModuleScope::resolve_variable(const Reference& reference) {
  if (const auto kept = variables_.find(reference.attribute); kept != variables_.end()) {
    return with_reference(kept->second, reference);
  }
  const auto variable = module_->variables.find(reference.attribute);
  if (!variable) {
    if (module_->incomplete) {
      return reject(Code::config_parse, reference, {});
    }
    return reject(
        Code::config_parse, reference,
        fmt::format("undefined variable {}: no variable of that name is declared in this module", name_of(reference)),
        did_you_mean(reference.attribute, module_->variables.names()));
  }
  if (tool() == ClientKind::terraform && !variable->is_const) {
    return reject(Code::config_non_static, reference,
                  fmt::format("only literal values and const variables have a value during init: {} is not const, and "
                              "{} needs it",
                              name_of(reference), needed_by()),
                  fmt::format("add const = true to variable \"{}\", or write a literal value", reference.attribute));
  }
  // A variable is not part of a cycle: its value comes from a file of values or from the calling module.
  return with_reference(variables_.emplace(variable->name, compute_variable(*variable)).first->second, reference);
}

Result<Value> ModuleScope::resolve_path(const Reference& reference) const {
  const std::string_view name = reference.attribute;
  if (name == "module") {
    return Value::string(module_path_);
  }
  if (name == "root") {
    return Value::string(".");
  }
  if (name == "cwd") {
    return Value::string(document_path(environment_.root).generic_string());
  }
  return reject(Code::config_parse, reference,
                fmt::format("the \"path\" object does not have an attribute named \"{}\"", name),
                did_you_mean(name, {"cwd", "module", "root"}));
}

Result<Value> ModuleScope::resolve_terraform(const Reference& reference) const {
  const std::string_view name = reference.attribute;
  if (name == "workspace") {
    return Value::string(environment_.workspace);
  }
  if (name == "applying") {
    return reject(
        Code::config_non_static, reference,
        fmt::format("{} has a value only in plan and apply, and {} needs it", name_of(reference), needed_by()));
  }
  return reject(Code::config_parse, reference,
                fmt::format("the \"{}\" object does not have an attribute named \"{}\"", reference.object, name),
                fmt::format("the only one is {}.workspace, the name of the selected workspace", reference.object));
}

Result<Value> ModuleScope::with_reference(Result<Value> value, const Reference& reference) const {
  if (!value && value.error().related.size() < kMaxRelated) {
    value.error().related.push_back({fmt::format("referenced by {}", needed_by()), reference.location});
  }
  return value;
}

Error ModuleScope::circular(const Reference& reference) const {
  const std::string name = name_of(reference);
  std::string chain = name;
  std::size_t named = 0;
  for (const Frame* frame = innermost_; frame != nullptr && frame->title != name; frame = frame->outer) {
    if (++named <= kMaxRelated) {
      chain.insert(0, frame->title + " -> ");
    }
  }
  if (named > kMaxRelated) {
    chain.insert(0, "… -> ");
  }
  return Error{.code = Code::config_non_static,
               .message = fmt::format("Circular reference: {} -> {}", name, chain),
               .location = reference.location,
               .hint = "give one of them a value that does not depend on the others"};
}

std::string ModuleScope::needed_by() const {
  return innermost_ == nullptr ? "this expression" : innermost_->title;
}

std::string ModuleScope::path_of(const ConfigText& file) const {
  return join_relative(module_path_, file.path);
}

Location ModuleScope::at(const Location& location) const {
  return {join_relative(module_path_, location.path), location.range};
}

// Locates an error that a file of the module already has.
Error ModuleScope::located(Error error) const {
  if (error.location) {
    error.location = at(*error.location);
  }
  for (Related& related : error.related) {
    related.location = at(related.location);
  }
  return error;
}

Result<Value> ModuleScope::compute_variable(const VariableDeclaration& variable) {
  if (variable.problem) {
    return fail(located(*variable.problem));
  }
  MODLOCK_TRY(auto value, value_of(variable));
  MODLOCK_TRY(value, fit(variable, std::move(value)));
  return value.with_marks({.sensitive = variable.sensitive, .ephemeral = variable.ephemeral});
}

Result<Value> ModuleScope::value_of(const VariableDeclaration& variable) {
  const auto* given = caller_ == nullptr ? values_->find(variable.name) : nullptr;
  if (given != nullptr) {
    return given_value(variable, *given);
  }
  if (const Argument argument = argument_of(variable); argument.attribute != nullptr) {
    return caller_->evaluate(argument, fmt::format("module.{}:var.{}", call_->name, variable.name), depth() + 1);
  }
  if (variable.default_value) {
    return *variable.default_value;
  }
  return fail(variable.default_problem ? located(*variable.default_problem) : missing_value(variable));
}

Argument ModuleScope::argument_of(const VariableDeclaration& variable) const {
  return caller_ == nullptr ? Argument() : call_->find(variable.name);
}

Error ModuleScope::missing_value(const VariableDeclaration& variable) const {
  if (caller_ == nullptr) {
    return {.code = Code::config_non_static,
            .message = fmt::format("variable \"{}\" has no value and no default", variable.name),
            .location = at(variable.location),
            .hint = fmt::format("set it in terraform.tfvars, with --variable {0}=… or with TF_VAR_{0}", variable.name)};
  }
  if (caller_->module_->incomplete) {
    return {.code = Code::config_parse, .message = {}};
  }
  return {
      .code = Code::config_parse,
      .message = fmt::format("{} lacks the argument \"{}\", a variable without default", call_->title, variable.name),
      .location = caller_->at({call_->file->path, call_->block->header_range}),
      .related = {{"the variable is declared here", at(variable.location)}},
      .hint = fmt::format("add {} = … to the call", variable.name)};
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
  if (converted && (!converted->is_null() || variable.nullable)) {
    return std::move(*converted);
  }
  if (converted && variable.default_value) {
    return *variable.default_value;
  }
  return fail(Error{.code = Code::config_parse,
                    .message = fmt::format("the given value is not suitable for var.{}: {}", variable.name,
                                           converted ? "required variable may not be set to null" : converted.error()),
                    .location = place_of_value(variable),
                    .related = {{"the variable is declared here", at(variable.location)}}});
}

// The location of the variable's value; text has no location in a file.
Location ModuleScope::place_of_value(const VariableDeclaration& variable) const {
  if (const Argument argument = argument_of(variable); argument.attribute != nullptr) {
    return {caller_->path_of(*argument.file), argument.attribute->value.range};
  }
  const auto* given = caller_ == nullptr ? values_->find(variable.name) : nullptr;
  return given == nullptr || given->expression == nullptr ? at(variable.location)
                                                          : Location{given->origin, given->expression->range};
}

}  // namespace modlock
