#include <fmt/format.h>

#include <algorithm>

#include "plugin/config/structure.h"
#include "plugin/eval/dependencies.h"

namespace modlock {
namespace {

// Whether a condition refers to something; to a certain variable where `variable` is given. What cannot be told counts.
bool refers(const hcl::Expression& condition, std::string_view variable, const ConfigText& file) {
  const auto needs = eval::collect_dependencies(condition, file.path);
  return !needs || std::any_of(needs->references.begin(), needs->references.end(), [&](const auto& reference) {
    return variable.empty() || (reference.object == "var" && reference.attribute == variable);
  });
}

bool is_blank(const hcl::Body& body, std::string_view name) {
  const hcl::Attribute* attribute = body.find(name);
  const auto* text = attribute != nullptr ? std::get_if<hcl::Template>(&attribute->value.node) : nullptr;
  return text != nullptr && std::all_of(text->parts.begin(), text->parts.end(), [](const hcl::TemplatePart& part) {
           const auto* literal = std::get_if<std::string>(&part.what);
           return literal != nullptr && literal->find_first_not_of(" \t\r\n") == std::string::npos;
         });
}

}  // namespace

bool check_rule(const hcl::Block& block, const StructureContext& context) {
  if (context.is_override()) {
    context.report(block.header_range,
                   fmt::format("Can't override {0} blocks: override files cannot override {0} blocks", block.type),
                   "change it in the file that the override is for");
    return false;
  }
  const hcl::Attribute* condition = block.body.find("condition");
  if (condition != nullptr && !refers(condition->value, {}, context.file)) {
    context.report(condition->value.range,
                   fmt::format("Invalid {} expression: the condition must refer to at least one object from elsewhere "
                               "in the configuration",
                               block.type));
    return false;
  }
  return condition != nullptr;
}

void check_variable(const hcl::Block& block, const StructureContext& context) {
  for (const hcl::Block& rule : block.body.blocks) {
    if (rule.type != "validation" || !check_rule(rule, context) || block.labels.size() != 1) {
      continue;
    }
    const hcl::Expression& condition = rule.body.find("condition")->value;
    const std::string& name = block.labels.front().text;
    if (!refers(condition, name, context.file)) {
      context.report(condition.range,
                     fmt::format("Invalid variable validation condition: the condition for variable \"{0}\" must refer "
                                 "to var.{0}",
                                 name));
    }
  }
}

void check_output(const hcl::Block& block, const StructureContext& context) {
  if (block.labels.size() == 1) {
    check_name(block.labels.front(), "output", context);
  }
  check_literal(block.body, "description", Literal::text, context);
  check_literal(block.body, "sensitive", Literal::boolean, context);
  check_literal(block.body, "ephemeral", Literal::boolean, context);
  if (context.tool == ClientKind::opentofu) {
    check_literal(block.body, "deprecated", Literal::text, context);
    if (is_blank(block.body, "deprecated")) {
      context.report(block.body.find("deprecated")->value.range,
                     "Invalid deprecated attribute: the \"deprecated\" argument must not be empty",
                     "say what to use instead of the output");
    }
  }
  check_references(block.body, "depends_on", context);
  for (const hcl::Block& inner : block.body.blocks) {
    if (inner.type == "precondition") {
      check_rule(inner, context);
    } else if (inner.type == "postcondition") {
      context.report(inner.type_range,
                     "Postconditions are not allowed: output values can only have preconditions, not postconditions");
    }
  }
}

void check_check(const hcl::Block& block, const StructureContext& context) {
  if (context.is_override()) {
    context.report(block.header_range, "Can't override check blocks: override files cannot override check blocks",
                   "change it in the file that the override is for");
    return;
  }
  if (block.labels.size() == 1) {
    check_name(block.labels.front(), "check block", context);
  }
  check_once(block.body, "data", "a check block", context);
  bool asserts = false;
  for (const hcl::Block& inner : block.body.blocks) {
    if (inner.type == "data") {
      check_resource(inner, ResourceKind::nested_data, context);
    } else if (inner.type == "assert") {
      check_rule(inner, context);
      asserts = true;
    }
  }
  if (!asserts) {
    context.report(block.header_range, "Zero assert blocks: a check block must have at least one assert block",
                   "write assert { condition = …, error_message = … } on lines of their own");
  }
}

}  // namespace modlock
