#include "tests/plugin/hcl/tree_shape.h"

#include <fmt/format.h>

#include <array>

namespace modlock::hcl::test {
namespace {

std::string shape_of_parts(const std::vector<TemplatePart>& parts) {
  std::string out;
  for (const TemplatePart& part : parts) {
    if (!out.empty()) out += ' ';
    if (const auto* text = std::get_if<std::string>(&part.what)) {
      out += fmt::format("'{}'", *text);
    } else if (const auto* value = std::get_if<ExpressionPtr>(&part.what)) {
      out += fmt::format("{{{}}}", shape(**value));
    } else if (const auto* branch = std::get_if<std::unique_ptr<TemplateIf>>(&part.what)) {
      out += fmt::format("if({} | {} | {})", shape((*branch)->condition), shape_of_parts((*branch)->when_true),
                         shape_of_parts((*branch)->when_false));
    } else {
      const auto& loop = *std::get<std::unique_ptr<TemplateFor>>(part.what);
      out += fmt::format("for({},{} in {} | {})", loop.key_variable, loop.value_variable, shape(loop.collection),
                         shape_of_parts(loop.body));
    }
  }
  return out;
}

struct Shape {
  std::string operator()(const NullLiteral&) const { return "null"; }
  std::string operator()(const BoolLiteral& node) const { return node.value ? "true" : "false"; }
  std::string operator()(const NumberLiteral& node) const { return node.text; }
  std::string operator()(const Template& node) const {
    return fmt::format("{}[{}]", node.heredoc ? "heredoc" : "string", shape_of_parts(node.parts));
  }
  std::string operator()(const Variable& node) const { return node.name; }
  std::string operator()(const FunctionCall& node) const {
    std::string out = "(call " + node.name;
    for (const Expression& argument : node.arguments) out += " " + shape(argument);
    return out + (node.expand_last ? "...)" : ")");
  }
  std::string operator()(const Tuple& node) const {
    std::string out = "(tuple";
    for (const Expression& item : node.items) out += " " + shape(item);
    return out + ")";
  }
  std::string operator()(const Object& node) const {
    std::string out = "(object";
    for (const ObjectItem& item : node.items) {
      out += fmt::format(" {}{}={}", item.bare_key ? "bare:" : "", shape(item.key), shape(item.value));
    }
    return out + ")";
  }
  std::string operator()(const For& node) const {
    std::string out =
        fmt::format("(for {},{} in {} :", node.key_variable, node.value_variable, shape(*node.collection));
    if (node.key) out += fmt::format(" {} =>", shape(*node.key));
    out += " " + shape(*node.value) + (node.grouping ? "..." : "");
    if (node.condition) out += " if " + shape(*node.condition);
    return out + ")";
  }
  std::string operator()(const Unary& node) const {
    return fmt::format("({} {})", node.op == UnaryOperator::negate ? "neg" : "not", shape(*node.operand));
  }
  std::string operator()(const Binary& node) const {
    constexpr std::array kNames = {"||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"};
    return fmt::format("({} {} {})", kNames.at(static_cast<std::size_t>(node.op)), shape(*node.left),
                       shape(*node.right));
  }
  std::string operator()(const Conditional& node) const {
    return fmt::format("(? {} {} {})", shape(*node.condition), shape(*node.when_true), shape(*node.when_false));
  }
  std::string operator()(const GetAttribute& node) const {
    return fmt::format("(. {} {})", shape(*node.operand), node.name);
  }
  std::string operator()(const Index& node) const {
    return fmt::format("({} {} {})", node.legacy ? "legacy" : "index", shape(*node.operand), shape(*node.key));
  }
  std::string operator()(const Splat& node) const {
    return fmt::format("({} {} {})", node.full ? "[*]" : ".*", shape(*node.operand), shape(*node.each));
  }
  std::string operator()(const SplatItem&) const { return "@"; }
  std::string operator()(const Parentheses& node) const { return fmt::format("(paren {})", shape(*node.inner)); }
  std::string operator()(const JsonString& node) const { return fmt::format("(json \"{}\")", node.text); }
};

}  // namespace

std::string shape(const Expression& expression) {
  return std::visit(Shape{}, expression.node);
}

std::string shape_of_value(std::string_view text) {
  const ParsedFile file = parse_native("a = " + std::string(text), "main.tf");
  if (!file.diagnostics.empty()) return "error: " + file.diagnostics.front().what.message;
  if (file.body.attributes.size() != 1) return "error: not one attribute";
  return shape(file.body.attributes.front().value);
}

std::string outline(const Body& body) {
  std::string out;
  for (const Attribute& attribute : body.attributes) {
    out.append(attribute.name).append("=" + shape(attribute.value) + ";");
  }
  for (const Block& block : body.blocks) {
    out += block.type;
    for (const Label& label : block.labels) out += fmt::format("<{}>", label.text);
    out += "{" + outline(block.body) + "}";
  }
  return out;
}

std::string slice(std::string_view text, const Range& range) {
  return std::string(text.substr(range.start.byte, range.end.byte - range.start.byte));
}

std::string show(std::string_view text, const Range& range) {
  return fmt::format("{}:{}-{}:{} {}", range.start.line, range.start.column, range.end.line, range.end.column,
                     slice(text, range));
}

std::string repeat(std::string_view what, std::size_t count) {
  std::string out;
  out.reserve(what.size() * count);
  for (std::size_t i = 0; i < count; ++i) out += what;
  return out;
}

std::string to_line(const Error& error) {
  std::string out = to_string(*error.location);
  if (error.location->range) {
    const Position& end = error.location->range->end;
    out += fmt::format("-{}:{}", end.line, end.column);
  }
  out += " " + error.message;
  if (!error.hint.empty()) out += fmt::format(" ({})", error.hint.text());
  return out;
}

}  // namespace modlock::hcl::test
