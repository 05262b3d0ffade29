#include <fmt/format.h>

#include "plugin/eval/evaluator.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

// What the parts stand in: `otherwise` where there are none.
Range range_of(const std::vector<hcl::TemplatePart>& parts, const Range& otherwise) {
  return parts.empty() ? otherwise : Range{parts.front().range.start, parts.back().range.end};
}

}  // namespace

// A template that is one interpolation and nothing else is the value itself.
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

// What a part adds, a string with marks.
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
  const hcl::Expression& expression = *std::get<hcl::ExpressionPtr>(part.what);
  Outcome value = evaluate(expression);
  if (!value) return value;
  if (value->is_null()) {
    return reject(expression.range, {"invalid template interpolation value: the expression result is null",
                                     "cannot include a null value in a string template"});
  }
  auto text = convert(*value, Type::string());
  if (text) return std::move(*text);
  return reject(expression.range,
                {fmt::format("invalid template interpolation value: cannot include the given value in a string "
                             "template: {}",
                             text.error())});
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

}  // namespace modlock::eval
