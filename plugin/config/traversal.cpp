#include "plugin/config/traversal.h"

#include <string_view>
#include <type_traits>
#include <utility>

#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

class TraversalReader {
 public:
  TraversalReader(const std::string& path, TraversalOptions options) : path_(path), options_(options) {}

  std::optional<Traversal> read(const hcl::Expression& expression) {
    Traversal result{.steps = {}, .range = expression.range};
    if (!append(expression, result)) {
      return std::nullopt;
    }
    return result;
  }

 private:
  // The height of trees is bounded by the parser.
  bool append(const hcl::Expression& expression, Traversal& out) {
    return std::visit([&](const auto& node) { return append_node(node, expression, out); }, expression.node);
  }

  template <typename Node>
  bool append_node(const Node& node, const hcl::Expression& expression, Traversal& out) {
    if constexpr (std::is_same_v<Node, hcl::Variable>) {
      out.steps.push_back({.name = node.name, .range = expression.range});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::NullLiteral>) {
      out.steps.push_back({.name = "null", .range = expression.range});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::BoolLiteral>) {
      out.steps.push_back({.name = node.value ? "true" : "false", .range = expression.range});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::GetAttribute>) {
      if (!append(*node.operand, out)) {
        return false;
      }
      out.steps.push_back({.name = node.name, .range = node.name_range(expression.range)});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::Index>) {
      return append(*node.operand, out) && append_key(*node.key, out);
    } else {
      return false;
    }
  }

  bool append_key(const hcl::Expression& key, Traversal& out) {
    const bool literal =
        std::holds_alternative<hcl::NumberLiteral>(key.node) || std::holds_alternative<hcl::BoolLiteral>(key.node) ||
        std::holds_alternative<hcl::NullLiteral>(key.node) || std::holds_alternative<hcl::Template>(key.node);
    const auto value = literal ? hcl::static_value(key, path_) : Result<hcl::Value>(fail(Error{}));
    if (!value) {
      out.static_keys = false;
      out.steps.push_back({.name = {}, .key = true, .range = key.range});
      return options_.dynamic_keys;
    }
    std::string text;
    if (const std::string* string = value->as_string()) {
      text = '"' + *string + '"';
    } else if (const auto* number = std::get_if<hcl::NumberValue>(&value->data)) {
      text = number->text;
    }
    out.steps.push_back({.name = std::move(text), .key = true, .range = key.range});
    return true;
  }

  const std::string& path_;
  TraversalOptions options_;
};

std::optional<Traversal> read_text(const hcl::Expression& string, const std::string& path, TraversalOptions options) {
  const auto inner = hcl::expression_of(string, path);
  return inner ? TraversalReader(path, options).read(*inner) : std::nullopt;
}

}  // namespace

std::optional<Traversal> read_traversal(const hcl::Expression& expression, const std::string& path,
                                        TraversalOptions options) {
  if (std::holds_alternative<hcl::JsonString>(expression.node)) {
    return read_text(expression, path, options);
  }
  if (!options.quoted || !std::holds_alternative<hcl::Template>(expression.node)) {
    return TraversalReader(path, options).read(expression);
  }
  const auto text = hcl::static_value(expression, path);
  if (!text || text->as_string() == nullptr) {
    return std::nullopt;
  }
  hcl::Expression string;
  string.range = expression.range;
  string.node = hcl::JsonString{.text = *text->as_string(), .shifts = {}};
  auto result = read_text(string, path, options);
  if (result) {
    result->quoted = true;
    result->range = expression.range;
  }
  return result;
}

std::string read_keyword(const hcl::Expression& expression, TraversalOptions options) {
  const auto traversal = read_traversal(expression, {}, options);
  return traversal && traversal->steps.size() == 1 ? traversal->root() : std::string();
}

}  // namespace modlock
