#include "plugin/eval/constant_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/eval/evaluate.h"

namespace modlock::eval {
namespace {

Error error_at(const std::string& path, const Range& range, std::string message, std::string hint = {}) {
  return Error{.code = Code::config_parse,
               .message = std::move(message),
               .location = Location{path, range},
               .hint = std::move(hint)};
}

// No functions are called where this stands in, so no files are asked for.
class NoFiles final : public FileAccess {
 public:
  Result<std::string> read(const std::string& path) const override { return refuse(path); }
  Result<bool> exists(const std::string& path) const override { return refuse(path); }
  Result<std::vector<std::string>> list(const std::string& directory) const override { return refuse(directory); }
  std::string working_directory() const override { return "/"; }

 private:
  static tl::unexpected<Error> refuse(const std::string& path) {
    return fail(Code::path_outside_root, fmt::format("no file may be read here, found \"{}\"", path));
  }
};

class NoNames final : public Scope {
 public:
  Result<Value> resolve(const Reference& reference) override {
    const std::string name = reference.attribute.empty() ? std::string(reference.object)
                                                         : fmt::format("{}.{}", reference.object, reference.attribute);
    return fail(Error{.code = Code::config_parse,
                      .message = fmt::format("variables not allowed: a value written out was expected, found {}", name),
                      .location = reference.location,
                      .hint = "write the value out"});
  }
  const FileAccess& files() const override { return files_; }

 private:
  NoFiles files_;
};

// The first call in an expression, or null.
class CallFinder {
 public:
  const hcl::Expression* find(const hcl::Expression& expression) const {
    if (std::holds_alternative<hcl::FunctionCall>(expression.node)) {
      return &expression;
    }
    return std::visit([this](const auto& node) { return in(node); }, expression.node);
  }

 private:
  using Found = const hcl::Expression*;

  Found find(const hcl::ExpressionPtr& expression) const { return expression == nullptr ? nullptr : find(*expression); }
  template <typename... Parts>
  Found first(const Parts&... parts) const {
    Found found = nullptr;
    static_cast<void>(((found = find(parts)) || ...));
    return found;
  }
  template <typename Items>
  Found first_of(const Items& items) const {
    for (const auto& item : items) {
      if (const Found found = find(item)) {
        return found;
      }
    }
    return nullptr;
  }

  Found find(const hcl::ObjectItem& item) const { return first(item.key, item.value); }
  Found find(const hcl::TemplatePart& part) const {
    return std::visit([this](const auto& what) { return in_part(what); }, part.what);
  }
  Found in_part(const std::string&) const { return nullptr; }
  Found in_part(const hcl::ExpressionPtr& expression) const { return find(expression); }
  Found in_part(const std::unique_ptr<hcl::TemplateIf>& part) const {
    const Found condition = find(part->condition);
    const Found when_true = condition != nullptr ? condition : first_of(part->when_true);
    return when_true != nullptr ? when_true : first_of(part->when_false);
  }
  Found in_part(const std::unique_ptr<hcl::TemplateFor>& part) const {
    const Found collection = find(part->collection);
    return collection != nullptr ? collection : first_of(part->body);
  }

  template <typename Leaf>
  Found in(const Leaf&) const {
    return nullptr;
  }
  Found in(const hcl::Template& node) const { return first_of(node.parts); }
  Found in(const hcl::Tuple& node) const { return first_of(node.items); }
  Found in(const hcl::Object& node) const { return first_of(node.items); }
  Found in(const hcl::For& node) const { return first(node.collection, node.key, node.value, node.condition); }
  Found in(const hcl::Unary& node) const { return find(node.operand); }
  Found in(const hcl::Binary& node) const { return first(node.left, node.right); }
  Found in(const hcl::Conditional& node) const { return first(node.condition, node.when_true, node.when_false); }
  Found in(const hcl::GetAttribute& node) const { return find(node.operand); }
  Found in(const hcl::Index& node) const { return first(node.operand, node.key); }
  Found in(const hcl::Splat& node) const { return first(node.operand, node.each); }
  Found in(const hcl::Parentheses& node) const { return find(node.inner); }
};

// The value of JSON as JSON.
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
      return fail(error_at(path_, range, "the number is out of the range that can be computed with"));
    }
    return Value::number(*number);
  }
  Result<Value> value_of(const hcl::JsonString& node, const Range&) const { return Value::string(node.text); }
  Result<Value> value_of(const hcl::Tuple& node, const Range&) const {
    Value::Items items;
    items.reserve(node.items.size());
    for (const hcl::Expression& item : node.items) {
      auto value = read(item);
      if (!value) {
        return value;
      }
      items.push_back(std::move(*value));
    }
    return Value::tuple(std::move(items));
  }
  Result<Value> value_of(const hcl::Object& node, const Range&) const {
    Value::Members members;
    for (const hcl::ObjectItem& item : node.items) {
      const auto key = read(item.key);
      if (!key) {
        return key;
      }
      auto value = read(item.value);
      if (!value) {
        return value;
      }
      if (!members.emplace(key->as_string(), std::move(*value)).second) {
        return fail(error_at(path_, item.key.range,
                             fmt::format("the attribute \"{}\" is defined twice in this object", key->as_string()),
                             "remove one of the two"));
      }
    }
    return Value::object(std::move(members));
  }
  // The reader of JSON makes no other nodes.
  template <typename Other>
  Result<Value> value_of(const Other&, const Range& range) const {
    return fail(error_at(path_, range, "a value of JSON was expected, found an expression"));
  }

  const std::string& path_;
};

}  // namespace

Result<Value> constant_value(const hcl::Expression& expression, bool json, const std::string& path) {
  if (json) {
    return JsonValue(path).read(expression);
  }
  if (const hcl::Expression* call = CallFinder().find(expression)) {
    return fail(error_at(path, call->range,
                         fmt::format("function calls not allowed: a value written out was expected, found {}()",
                                     std::get<hcl::FunctionCall>(call->node).name),
                         "write the value out"));
  }
  NoNames scope;
  return evaluate(expression, path, scope);
}

}  // namespace modlock::eval
