#include "plugin/eval/dependencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugin/hcl/parser.h"

namespace modlock::eval {
namespace {

// Walks the whole expression, also the parts that will not be computed. The parser limits the height of trees.
class Collector {
 public:
  explicit Collector(const std::string& path) : path_(path) {}

  void walk(const hcl::Expression& expression) {
    if (error) return;
    std::visit([&](const auto& node) { walk_node(node, expression); }, expression.node);
  }

  Dependencies needs;
  std::optional<Error> error;

 private:
  void refer(const hcl::Variable& root, std::string_view attribute, const Range& range) {
    if (std::find(bound_.begin(), bound_.end(), root.name) != bound_.end()) return;
    needs.references.push_back({root.name, attribute, Location{path_, range}});
  }

  void walk_node(const hcl::NullLiteral&, const hcl::Expression&) {}
  void walk_node(const hcl::BoolLiteral&, const hcl::Expression&) {}
  void walk_node(const hcl::NumberLiteral&, const hcl::Expression&) {}
  void walk_node(const hcl::SplatItem&, const hcl::Expression&) {}

  void walk_node(const hcl::Variable& node, const hcl::Expression& at) { refer(node, {}, at.range); }

  void walk_node(const hcl::GetAttribute& node, const hcl::Expression& at) {
    if (const auto* root = std::get_if<hcl::Variable>(&node.operand->node)) return refer(*root, node.name, at.range);
    walk(*node.operand);
  }

  void walk_node(const hcl::FunctionCall& node, const hcl::Expression&) {
    if (node.name.starts_with("provider::")) {
      error = Error{.code = Code::config_non_static,
                    .message = fmt::format("provider function in static context: unable to use {}", node.name),
                    .location = Location{path_, node.name_range},
                    .hint = "use built-in functions here: providers are not installed yet when this is read"};
      return;
    }
    needs.functions.push_back(node.name);
    const bool has_type = is_conversion(node);
    for (const hcl::Expression& argument : node.arguments) {
      if (!has_type || &argument == &node.arguments.front()) walk(argument);
    }
  }

  void walk_node(const hcl::Tuple& node, const hcl::Expression&) {
    for (const hcl::Expression& item : node.items) walk(item);
  }

  void walk_node(const hcl::Object& node, const hcl::Expression&) {
    for (const hcl::ObjectItem& item : node.items) {
      if (!item.bare_key) walk(item.key);
      walk(item.value);
    }
  }

  void walk_node(const hcl::For& node, const hcl::Expression&) {
    walk(*node.collection);
    bind(node.key_variable, node.value_variable);
    if (node.key != nullptr) walk(*node.key);
    walk(*node.value);
    if (node.condition != nullptr) walk(*node.condition);
    unbind();
  }

  void walk_node(const hcl::Unary& node, const hcl::Expression&) { walk(*node.operand); }

  void walk_node(const hcl::Binary& node, const hcl::Expression&) {
    walk(*node.left);
    walk(*node.right);
  }

  void walk_node(const hcl::Conditional& node, const hcl::Expression&) {
    walk(*node.condition);
    walk(*node.when_true);
    walk(*node.when_false);
  }

  void walk_node(const hcl::Index& node, const hcl::Expression&) {
    walk(*node.operand);
    walk(*node.key);
  }

  void walk_node(const hcl::Splat& node, const hcl::Expression&) {
    walk(*node.operand);
    walk(*node.each);
  }

  void walk_node(const hcl::Parentheses& node, const hcl::Expression&) { walk(*node.inner); }
  void walk_node(const hcl::Template& node, const hcl::Expression&) { walk_parts(node.parts); }

  void walk_node(const hcl::JsonString&, const hcl::Expression& at) {
    auto parsed = hcl::template_of(at, path_);
    if (!parsed) {
      error = std::move(parsed).error();
      return;
    }
    walk(needs.strings.emplace(&at, std::move(*parsed)).first->second);
  }

  void walk_parts(const std::vector<hcl::TemplatePart>& parts) {
    for (const hcl::TemplatePart& part : parts) {
      if (const auto* value = std::get_if<hcl::ExpressionPtr>(&part.what)) walk(**value);
      if (const auto* branch = std::get_if<std::unique_ptr<hcl::TemplateIf>>(&part.what)) {
        walk((*branch)->condition);
        walk_parts((*branch)->when_true);
        walk_parts((*branch)->when_false);
      }
      if (const auto* loop = std::get_if<std::unique_ptr<hcl::TemplateFor>>(&part.what)) {
        walk((*loop)->collection);
        bind((*loop)->key_variable, (*loop)->value_variable);
        walk_parts((*loop)->body);
        unbind();
      }
    }
  }

  // An empty name binds nothing.
  void bind(std::string_view key, std::string_view value) {
    bound_.push_back(key);
    bound_.push_back(value);
  }
  void unbind() { bound_.resize(bound_.size() - 2); }

  const std::string& path_;
  std::vector<std::string_view> bound_;
};

}  // namespace

bool is_conversion(const hcl::FunctionCall& call) {
  return (call.name == "convert" || call.name == "core::convert") && call.arguments.size() == 2;
}

Result<Dependencies> collect_dependencies(const hcl::Expression& expression, const std::string& path) {
  Collector collector(path);
  collector.walk(expression);
  if (collector.error) return fail(std::move(*collector.error));
  return std::move(collector.needs);
}

}  // namespace modlock::eval
