#include "plugin/eval/evaluate.h"

#include <fmt/format.h>

#include "plugin/eval/evaluator.h"

namespace modlock::eval {
namespace {

Error error_at(const std::string& path, const Range& range, std::string message, std::string hint = {}) {
  return Error{.code = Code::config_parse,
               .message = std::move(message),
               .location = Location{path, range},
               .hint = std::move(hint)};
}

// Reads the value of JSON syntax as plain JSON.
class JsonValue {
 public:
  explicit JsonValue(const std::string& path) : path_(path) {}

  Result<Value> read(const hcl::Expression& expression) const {
    return std::visit([&](const auto& node) { return value_of(node, expression.range); }, expression.node);
  }

 private:
  Result<Value> value_of(const hcl::NullLiteral&, const Range&) const { return Value(); }
  Result<Value> value_of(const hcl::BoolLiteral& node, const Range&) const { return Value::boolean(node.value); }
  Result<Value> value_of(const hcl::NumberLiteral& node, const Range& range) const {
    const auto number = Number::parse(node.text);
    if (!number) {
      return fail(error_at(path_, range, "the number is too large or too small to compute with"));
    }
    return Value::number(*number);
  }
  Result<Value> value_of(const hcl::JsonString& node, const Range&) const { return Value::string(node.text); }
  Result<Value> value_of(const hcl::Tuple& node, const Range&) const {
    Value::Items items;
    items.reserve(node.items.size());
    for (const hcl::Expression& item : node.items) {
      MODLOCK_TRY(auto value, read(item));
      items.push_back(std::move(value));
    }
    return Value::tuple(std::move(items));
  }
  Result<Value> value_of(const hcl::Object& node, const Range&) const {
    Value::Members members;
    for (const hcl::ObjectItem& item : node.items) {
      MODLOCK_TRY(const auto key, read(item.key));
      MODLOCK_TRY(auto value, read(item.value));
      if (!members.emplace(key.as_string(), std::move(value)).second) {
        return fail(error_at(path_, item.key.range,
                             fmt::format("the attribute \"{}\" is defined twice in this object", key.as_string()),
                             "remove one of the two"));
      }
    }
    return Value::object(std::move(members));
  }
  // The JSON reader creates no other nodes.
  template <typename Other>
  Result<Value> value_of(const Other&, const Range& range) const {
    return fail(error_at(path_, range, "a value of JSON was expected, found an expression"));
  }

  const std::string& path_;
};

}  // namespace

Result<Value> constant_value(const hcl::Expression& expression, bool json, const std::string& path,
                             const Value::Members& variables) {
  if (json) {
    return JsonValue(path).read(expression);
  }
  const Dependencies needs;
  const Names names{.references = {}, .variables = variables, .refused = true};
  Run run;
  Outcome outcome = Evaluator(needs, names, path, run).evaluate(expression);
  if (!outcome) {
    return fail(*outcome.error().error);
  }
  return std::move(*outcome);
}

}  // namespace modlock::eval
