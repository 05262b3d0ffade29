#include "plugin/config/traversal.h"

#include <type_traits>
#include <utility>

#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

class TraversalReader {
 public:
  explicit TraversalReader(const std::string& path) : path_(path) {}

  std::optional<Traversal> read(const hcl::Expression& expression) {
    Traversal result;
    if (!append(expression, result)) {
      return std::nullopt;
    }
    return result;
  }

 private:
  // The parser limits the height of trees.
  bool append(const hcl::Expression& expression, Traversal& out) {
    return std::visit([&](const auto& node) { return append_node(node, out); }, expression.node);
  }

  template <typename Node>
  bool append_node(const Node& node, Traversal& out) {
    if constexpr (std::is_same_v<Node, hcl::Variable>) {
      out.steps.push_back({.name = node.name});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::NullLiteral>) {
      out.steps.push_back({.name = "null"});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::BoolLiteral>) {
      out.steps.push_back({.name = node.value ? "true" : "false"});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::GetAttribute>) {
      if (!append(*node.operand, out)) {
        return false;
      }
      out.steps.push_back({.name = node.name});
      return true;
    } else if constexpr (std::is_same_v<Node, hcl::Index>) {
      if (!append(*node.operand, out)) {
        return false;
      }
      append_key(*node.key, out);
      return true;
    } else {
      return false;
    }
  }

  void append_key(const hcl::Expression& key, Traversal& out) {
    const bool literal =
        std::holds_alternative<hcl::NumberLiteral>(key.node) || std::holds_alternative<hcl::BoolLiteral>(key.node) ||
        std::holds_alternative<hcl::NullLiteral>(key.node) || std::holds_alternative<hcl::Template>(key.node);
    const auto value = literal ? hcl::static_value(key, path_) : Result<hcl::Value>(fail(Error{}));
    std::string text;
    if (const std::string* string = value ? value->as_string() : nullptr) {
      text = '"' + *string + '"';
    } else if (const auto* number = value ? std::get_if<hcl::NumberValue>(&value->data) : nullptr) {
      text = number->text;
    }
    out.steps.push_back({.name = std::move(text), .key = true});
  }

  const std::string& path_;
};

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
    return inner ? TraversalReader(path).read(*inner) : std::nullopt;
  }
  return TraversalReader(path).read(expression);
}

}  // namespace modlock
