#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "plugin/hcl/ast.h"

// Visits every range of a syntax tree together with the range it must lie in.
namespace modlock::hcl::test {

// In JSON a block's labels and header stand outside of the block's range.
enum class Syntax { native, json };

template <typename Visit>
class TreeWalk {
 public:
  explicit TreeWalk(Visit visit, Syntax syntax = Syntax::native) : visit_(std::move(visit)), syntax_(syntax) {}

  void body(const Body& body, const Range& outer) {
    for (const Attribute& attribute : body.attributes) {
      visit_("attribute", attribute.range(), outer);
      visit_("attribute name", attribute.name_range, attribute.range());
      expression(attribute.value, attribute.range());
    }
    for (const Block& block : body.blocks) {
      visit_("block", block.range, outer);
      const bool json = syntax_ == Syntax::json;
      visit_("block header", block.header_range, json ? outer : block.range);
      for (const Label& label : block.labels) visit_("label", label.range, json ? outer : block.header_range);
      this->body(block.body, block.range);
    }
  }

  void expression(const Expression& expression, const Range& outer) {
    visit_(kind_of(expression), expression.range, outer);
    std::visit([&](const auto& node) { children(node, expression.range); }, expression.node);
  }

 private:
  static const char* kind_of(const Expression& expression) {
    if (std::holds_alternative<JsonString>(expression.node)) return "string";
    return std::holds_alternative<Template>(expression.node) ? "template" : "expression";
  }

  template <typename Node>
  void children(const Node&, const Range&) {}
  template <typename Node>
  void children(const Boxed<Node>& node, const Range& outer) {
    children(static_cast<const Node&>(node), outer);
  }
  void children(const Template& node, const Range& outer) { parts(node.parts, outer); }
  void children(const FunctionCall& node, const Range& outer) {
    visit_("function name", node.name_range, outer);
    for (const Expression& argument : node.arguments) expression(argument, outer);
  }
  void children(const Tuple& node, const Range& outer) {
    for (const Expression& item : node.items) expression(item, outer);
  }
  void children(const Object& node, const Range& outer) {
    for (const ObjectItem& item : node.items) {
      expression(item.key, outer);
      expression(item.value, outer);
    }
  }
  void children(const For& node, const Range& outer) {
    for (const auto* part : {&node.collection, &node.key, &node.value, &node.condition}) {
      if (*part) expression(**part, outer);
    }
  }
  void children(const Unary& node, const Range& outer) { expression(*node.operand, outer); }
  void children(const Binary& node, const Range& outer) {
    expression(*node.left, outer);
    expression(*node.right, outer);
  }
  void children(const Conditional& node, const Range& outer) {
    expression(*node.condition, outer);
    expression(*node.when_true, outer);
    expression(*node.when_false, outer);
  }
  void children(const GetAttribute& node, const Range& outer) {
    expression(*node.operand, outer);
    visit_("member name", node.name_range(outer), outer);
  }
  void children(const Index& node, const Range& outer) {
    expression(*node.operand, outer);
    expression(*node.key, outer);
  }
  void children(const Splat& node, const Range& outer) {
    expression(*node.operand, outer);
    expression(*node.each, outer);
  }
  void children(const Parentheses& node, const Range& outer) { expression(*node.inner, outer); }

  void parts(const std::vector<TemplatePart>& list, const Range& outer) {
    for (const TemplatePart& part : list) {
      visit_("template part", part.range, outer);
      if (const auto* value = std::get_if<ExpressionPtr>(&part.what)) {
        expression(**value, part.range);
      } else if (const auto* branch = std::get_if<std::unique_ptr<TemplateIf>>(&part.what)) {
        expression((*branch)->condition, part.range);
        parts((*branch)->when_true, part.range);
        parts((*branch)->when_false, part.range);
      } else if (const auto* loop = std::get_if<std::unique_ptr<TemplateFor>>(&part.what)) {
        expression((*loop)->collection, part.range);
        parts((*loop)->body, part.range);
      }
    }
  }

  Visit visit_;
  Syntax syntax_;
};

// `visit(const char* what, const Range& range, const Range& outer)`
template <typename Visit>
void walk_tree(const Body& body, Visit visit, Syntax syntax = Syntax::native) {
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  TreeWalk<Visit>(std::move(visit), syntax).body(body, {{}, {kMost, kMost, kMost}});
}

}  // namespace modlock::hcl::test
