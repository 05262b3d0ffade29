#include "plugin/config/traversal.h"

#include <utility>

#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

Traversal::Step key_step(const hcl::Expression& key, const std::string& path) {
  const bool literal =
      std::holds_alternative<hcl::NumberLiteral>(key.node) || std::holds_alternative<hcl::BoolLiteral>(key.node) ||
      std::holds_alternative<hcl::NullLiteral>(key.node) || std::holds_alternative<hcl::Template>(key.node);
  const auto value = literal ? hcl::static_value(key, path) : Result<hcl::Value>(fail(Error{}));
  std::string text;
  if (const std::string* string = value ? value->as_string() : nullptr) {
    text = '"' + *string + '"';
  } else if (const auto* number = value ? std::get_if<hcl::NumberValue>(&value->data) : nullptr) {
    text = number->text;
  }
  return {.name = std::move(text), .key = true};
}

// The parser limits the height of trees.
bool append(const hcl::Expression& expression, const std::string& path, Traversal& out) {
  if (const auto* attribute = std::get_if<hcl::GetAttribute>(&expression.node)) {
    const bool done = append(*attribute->operand, path, out);
    out.steps.push_back({.name = attribute->name});
    return done;
  }
  if (const auto* index = std::get_if<hcl::Index>(&expression.node)) {
    const bool done = append(*index->operand, path, out);
    out.steps.push_back(key_step(*index->key, path));
    return done;
  }
  const auto* variable = std::get_if<hcl::Variable>(&expression.node);
  const auto* boolean = std::get_if<hcl::BoolLiteral>(&expression.node);
  out.steps.push_back({.name = variable != nullptr  ? variable->name
                               : boolean == nullptr ? "null"
                               : boolean->value     ? "true"
                                                    : "false"});
  return variable != nullptr || boolean != nullptr || std::holds_alternative<hcl::NullLiteral>(expression.node);
}

std::optional<Traversal> traversal_of(const hcl::Expression& expression, const std::string& path) {
  Traversal result;
  return append(expression, path, result) ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::optional<Traversal> read_traversal(const hcl::Expression& expression, const std::string& path) {
  if (std::holds_alternative<hcl::Template>(expression.node)) {
    const auto text = hcl::static_value(expression, path);
    if (!text || text->as_string() == nullptr) {
      return std::nullopt;
    }
    hcl::Expression string;
    string.node = hcl::JsonString{.text = *text->as_string(), .shifts = {}};
    return read_traversal(string, path);
  }
  if (std::holds_alternative<hcl::JsonString>(expression.node)) {
    const auto inner = hcl::expression_of(expression, path);
    return inner ? traversal_of(*inner, path) : std::nullopt;
  }
  return traversal_of(expression, path);
}

}  // namespace modlock
