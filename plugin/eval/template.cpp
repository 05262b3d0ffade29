#include <fmt/format.h>

#include <algorithm>

#include "plugin/eval/evaluate.h"
#include "plugin/eval/evaluator.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"

namespace modlock::eval {

struct Evaluator::TemplateText {
  const std::string& text;
  std::string path;  // for messages
  // Messages must not reveal anything that has marks. Variables may have lost theirs.
  Marks marks;
  Marks variable_marks;
};

namespace {

// The range of the parts, or `otherwise` if there are none.
Range range_of(const std::vector<hcl::TemplatePart>& parts, const Range& otherwise) {
  return parts.empty() ? otherwise : Range{parts.front().range.start, parts.back().range.end};
}

bool is_identifier(std::string_view name) {
  return !name.empty() && hcl::identifier_size(name, 0) == name.size();
}

FunctionError wrong_variables(std::string message) {
  return {1, std::move(message)};
}

// Why a template cannot be rendered with these variables.
std::optional<FunctionError> check_variables(const Value& variables, bool secret) {
  if (!variables.is(Type::Kind::map) && !variables.is(Type::Kind::object)) {
    return wrong_variables("invalid vars value: must be a map");
  }
  for (const auto& member : variables.members()) {
    if (is_identifier(member.first)) continue;
    return wrong_variables(
        fmt::format("invalid template variable name{}: must start with a letter, followed by zero or "
                    "more letters, digits, and underscores",
                    secret ? "" : " " + hcl::quoted_for_message(member.first)));
  }
  return std::nullopt;
}

}  // namespace

// A template that is only one interpolation is the value itself.
Outcome Evaluator::value_of(const hcl::Template& node, const hcl::Expression& at) {
  if (node.parts.size() == 1) {
    if (const auto* only = std::get_if<hcl::ExpressionPtr>(&node.parts.front().what)) return evaluate(**only);
  }
  return text_of(node.parts, at.range);
}

Outcome Evaluator::text_of(const std::vector<hcl::TemplatePart>& parts, const Range& range) {
  std::string text;
  Marks marks;
  bool unknown = false;
  for (const hcl::TemplatePart& part : parts) {
    const Outcome value = part_value(part);
    if (failed(value)) return no_value(value, Type::string());
    if (!value) {
      unknown = true;
      continue;
    }
    marks = marks | value->marks();
    text += value->as_string();
    if (auto problem = run_.budget.take_text(value->as_string().size())) return reject(part.range, std::move(*problem));
  }
  if (unknown) return no_value(NoValue{{}, Type::string()});
  return within_limits(Value::string(std::move(text)).with_marks(marks), range);
}

// The text of a part, as a string with marks.
Outcome Evaluator::part_value(const hcl::TemplatePart& part) {
  if (const auto* literal = std::get_if<std::string>(&part.what)) return Value::string(*literal);
  if (const auto* branch = std::get_if<std::unique_ptr<hcl::TemplateIf>>(&part.what)) {
    const hcl::TemplateIf& node = **branch;
    const Range true_range = range_of(node.when_true, part.range);
    const Range false_range = range_of(node.when_false, part.range);
    return choose(node.condition, {text_of(node.when_true, true_range), true_range},
                  {text_of(node.when_false, false_range), false_range});
  }
  if (const auto* loop = std::get_if<std::unique_ptr<hcl::TemplateFor>>(&part.what)) {
    return loop_text(**loop, part.range);
  }
  return required(*std::get<hcl::ExpressionPtr>(part.what), Type::string(),
                  {"invalid template interpolation value: the expression result is null",
                   "cannot include a null value in a string template"},
                  "invalid template interpolation value: cannot include the given value in a string template");
}

Outcome Evaluator::loop_text(const hcl::TemplateFor& node, const Range& range) {
  std::string text;
  Marks inner;
  const Loop loop{node.key_variable, node.value_variable, node.collection, nullptr};
  const auto marks = iterate(loop, [&]() -> std::optional<NoValue> {
    const Outcome body = text_of(node.body, range);
    if (!body) return body.error();
    inner = inner | body->marks();
    text += body->as_string();
    return std::nullopt;
  });
  if (!marks) return no_value(NoValue{marks.error().error, Type::string()});
  return Value::string(std::move(text)).with_marks(*marks | inner);
}

Outcome Evaluator::templatefile(const Invocation& invocation) {
  const Value& path = invocation.values[0];
  const Value& variables = invocation.values[1];
  const bool secret = path.marks().any();
  auto text = run_.files->read(path.as_string());
  if (!text) {
    return reject_call(invocation, {0, secret ? "this file cannot be read" : text.error().message, text.error().code});
  }
  const Outcome result =
      render(invocation, {*text, secret ? "(sensitive value)" : path.as_string(), path.marks(), variables.deep_marks()},
             variables.without_marks());
  if (!result) return result;
  return result->with_marks(path.marks() | variables.deep_marks());
}

Outcome Evaluator::templatestring(const Invocation& invocation) {
  const Value& text = invocation.values[0];
  const Value& variables = invocation.values[1];
  const Outcome result =
      render(invocation, {text.as_string(), "<templatestring argument>", text.marks(), variables.marks()}, variables);
  if (!result) return result;
  return result->with_marks(text.marks() | variables.marks());
}

// The template can use only its variables. Its errors are reported at the call.
Outcome Evaluator::render(const Invocation& invocation, const TemplateText& text, const Value& variables) {
  const DepthGuard entered(run_.templates);
  if (run_.templates > kMaxTemplates) {
    return reject_call(
        invocation,
        {{}, fmt::format("templates are nested deeper than {} levels", kMaxTemplates), Code::limit_exceeded});
  }
  if (auto error = check_variables(variables, text.variable_marks.any()))
    return reject_call(invocation, std::move(*error));
  const auto failure = [&](Error inner) {
    const bool secret = (text.marks | text.variable_marks).any();
    Error error = call_error(invocation, {{}, secret ? "the template is invalid" : inner.message, inner.code});
    if (secret) {
      error.hint = "the cause is hidden because a value here is sensitive or ephemeral";
    } else {
      error.hint = std::move(inner.hint);
      error.related = {{std::move(inner.message), std::move(*inner.location)}};
    }
    return reject(std::move(error));
  };
  auto expression = hcl::parse_template(text.text, text.path);
  if (!expression) return failure(std::move(expression).error());
  auto needs = collect_dependencies(*expression, text.path);
  if (!needs) return failure(std::move(needs).error());
  const Names names{.variables = variables.members()};
  for (const Reference& reference : needs->references) {
    if (names.variables.count(std::string(reference.object)) != 0) continue;
    return reject_call(
        invocation,
        wrong_variables(text.marks.any() ? "vars map does not contain a key that the template refers to"
                                         : fmt::format("vars map does not contain key \"{}\", referenced at {}",
                                                       reference.object, to_string(reference.location))));
  }
  const Outcome result = Evaluator(*needs, names, text.path, run_).evaluate(*expression);
  if (failed(result)) return failure(*result.error().error);
  return result;
}

}  // namespace modlock::eval
