#include "plugin/hcl/value.h"

#include <fmt/format.h>

#include "plugin/hcl/characters.h"

namespace modlock::hcl {
namespace {

// Walks an expression by recursion. The parser limits the height of trees.
class Evaluator {
 public:
  explicit Evaluator(const std::string& path) : path_(path) {}

  Result<Value> evaluate(const Expression& expression) const {
    auto data = std::visit([&](const auto& node) { return value_of(node, expression.range); }, expression.node);
    if (!data) return fail(std::move(data).error());
    Value value;
    value.data = std::move(*data);
    value.range = expression.range;
    return value;
  }

 private:
  using Data = decltype(Value::data);

  tl::unexpected<Error> dynamic(const Range& range, std::string_view what) const {
    return fail({.code = Code::config_non_static,
                 .message = fmt::format("expected a literal value, found {}", what),
                 .location = Location{path_, range},
                 .hint = "write the value itself: no variables, functions or operators"});
  }

  Result<Data> value_of(const NullLiteral&, const Range&) const { return Data{NullValue{}}; }
  Result<Data> value_of(const BoolLiteral& node, const Range&) const { return Data{node.value}; }
  Result<Data> value_of(const NumberLiteral& node, const Range&) const { return Data{NumberValue{node.text}}; }

  Result<Data> value_of(const Template& node, const Range&) const {
    std::string text;
    for (const TemplatePart& part : node.parts) {
      const auto* literal = std::get_if<std::string>(&part.what);
      if (literal == nullptr) {
        const bool value = std::holds_alternative<ExpressionPtr>(part.what);
        return dynamic(part.range, value ? "an interpolation" : "a template directive");
      }
      text += *literal;
    }
    return Data{normalize_nfc(text)};
  }

  Result<Data> value_of(const Tuple& node, const Range&) const {
    TupleValue items;
    items.reserve(node.items.size());
    for (const Expression& item : node.items) {
      MODLOCK_TRY(auto value, evaluate(item));
      items.push_back(std::move(value));
    }
    return Data{std::move(items)};
  }

  Result<Data> value_of(const Object& node, const Range&) const {
    ObjectValue items;
    items.reserve(node.items.size());
    for (const ObjectItem& item : node.items) {
      MODLOCK_TRY(auto key, key_of(item));
      MODLOCK_TRY(auto value, evaluate(item.value));
      items.push_back({std::move(key), std::move(value)});
    }
    return Data{std::move(items)};
  }

  Result<Data> value_of(const Unary& node, const Range& range) const {
    const auto* number = std::get_if<NumberLiteral>(&node.operand->node);
    if (node.op == UnaryOperator::negate && number != nullptr) return Data{NumberValue{"-" + number->text}};
    return dynamic(range, "an operator");
  }

  Result<Data> value_of(const Parentheses& node, const Range&) const {
    MODLOCK_TRY(auto inner, evaluate(*node.inner));
    return std::move(inner.data);
  }

  Result<Data> value_of(const Variable& node, const Range& range) const {
    return dynamic(range, fmt::format("a reference to {}", quoted_for_message(node.name)));
  }
  Result<Data> value_of(const GetAttribute&, const Range& range) const { return dynamic(range, "a reference"); }
  Result<Data> value_of(const Index&, const Range& range) const { return dynamic(range, "an index"); }
  Result<Data> value_of(const Splat&, const Range& range) const { return dynamic(range, "a splat"); }
  Result<Data> value_of(const JsonString& node, const Range&) const { return Data{normalize_nfc(node.text)}; }

  Result<Data> value_of(const SplatItem&, const Range& range) const { return dynamic(range, "a splat"); }
  Result<Data> value_of(const For&, const Range& range) const { return dynamic(range, "a for expression"); }
  Result<Data> value_of(const Binary&, const Range& range) const { return dynamic(range, "an operator"); }
  Result<Data> value_of(const Conditional&, const Range& range) const { return dynamic(range, "a condition"); }
  Result<Data> value_of(const FunctionCall& node, const Range& range) const {
    return dynamic(range, fmt::format("a call of the function {}", quoted_for_message(node.name)));
  }

  // Keys are strings: numbers and bools are converted as in HCL.
  Result<std::string> key_of(const ObjectItem& item) const {
    if (item.bare_key) return normalize_nfc(std::get<Variable>(item.key.node).name);
    MODLOCK_TRY(auto key, evaluate(item.key));
    if (const std::string* text = key.as_string()) return *text;
    if (const auto* number = std::get_if<NumberValue>(&key.data)) return number->text;
    if (const bool* flag = std::get_if<bool>(&key.data)) return std::string(*flag ? "true" : "false");
    return dynamic(item.key.range, fmt::format("{} as the key of an object", type_name(key)));
  }

  const std::string& path_;
};

}  // namespace

std::string_view type_name(const Value& value) {
  constexpr std::string_view kNames[] = {"null", "a bool", "a number", "a string", "a list", "an object"};
  return kNames[value.data.index()];
}

Result<Value> static_value(const Expression& expression, const std::string& path) {
  return Evaluator(path).evaluate(expression);
}

Result<std::string> static_string(const Expression& expression, const std::string& path, std::string_view what,
                                  Code wrong_type) {
  auto value = static_value(expression, path);
  if (!value) {
    Error error = std::move(value).error();
    error.notes.push_back(fmt::format("while reading {}", what));
    return fail(std::move(error));
  }
  if (const std::string* text = value->as_string()) return *text;
  return fail({.code = wrong_type,
               .message = fmt::format("expected {} to be a string, found {}", what, type_name(*value)),
               .location = Location{path, expression.range},
               .hint = "put the value in quotes"});
}

}  // namespace modlock::hcl
