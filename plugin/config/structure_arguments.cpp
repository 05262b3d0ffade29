#include <fmt/format.h>

#include <array>
#include <vector>

#include "plugin/config/structure.h"
#include "plugin/config/traversal.h"
#include "plugin/eval/dependencies.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

const hcl::Attribute* find_enabled(const hcl::Body& body, ClientKind tool) {
  if (tool == ClientKind::terraform) {
    return nullptr;
  }
  for (const hcl::Block& block : body.blocks) {
    if (block.type == "lifecycle") {
      return block.body.find("enabled");
    }
  }
  return nullptr;
}

bool is_boolean_text(const std::string& text) {
  return text == "true" || text == "false" || text == "1" || text == "0";
}

// What HCL converts to the type.
bool fits(const hcl::Value& value, Literal type) {
  if (value.is_null() || value.as_tuple() != nullptr || value.as_object() != nullptr) {
    return false;
  }
  const std::string* text = value.as_string();
  return type == Literal::text || std::holds_alternative<bool>(value.data) ||
         (text != nullptr && is_boolean_text(*text));
}

}  // namespace

void check_once(const hcl::Body& body, std::string_view type, std::string_view title, const StructureContext& context) {
  const hcl::Block* first = nullptr;
  for (const hcl::Block& block : body.blocks) {
    if (block.type != type) {
      continue;
    }
    if (first == nullptr) {
      first = &block;
      continue;
    }
    context.report(
        block.header_range,
        fmt::format("Duplicate {} block: {} can have only one such block", type == "_" ? "escaping" : type, title),
        "move everything into one block");
    context.diagnostics.back().what.related.push_back(
        {"the first block is here", {context.file.path, first->header_range}});
  }
}

void check_reserved(const hcl::Body& body, std::string_view type, std::string_view title,
                    const StructureContext& context) {
  for (const hcl::Block& block : body.blocks) {
    if (block.type == type) {
      context.report(block.type_range,
                     fmt::format("Reserved block type name in {}: {} is reserved for a future version of {}", title,
                                 hcl::quoted_for_message(type), display_name(context.tool)));
    }
  }
}

void check_repetition(const hcl::Body& body, const StructureContext& context) {
  const hcl::Attribute* second = nullptr;
  std::string names;
  int given = 0;
  for (const hcl::Attribute* attribute :
       {body.find("count"), find_enabled(body, context.tool), body.find("for_each")}) {
    if (attribute == nullptr) {
      continue;
    }
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", attribute->name);
    if (++given == 2) {
      second = attribute;
    }
  }
  if (second != nullptr) {
    context.report(second->name_range,
                   fmt::format("Invalid combination of {}: these meta-arguments are mutually exclusive", names),
                   "keep one of them");
  }
}

void check_references(const hcl::Body& body, std::string_view name, const StructureContext& context) {
  const hcl::Attribute* attribute = body.find(name);
  if (attribute == nullptr) {
    return;
  }
  const auto* list = std::get_if<hcl::Tuple>(&attribute->value.node);
  if (list == nullptr) {
    context.report(attribute->value.range, fmt::format("Invalid expression: {} needs a list of references", name),
                   fmt::format("write {} = [aws_instance.web]", name));
    return;
  }
  for (const hcl::Expression& item : list->items) {
    const auto traversal = read_traversal(item, context.file.path, {.quoted = true});
    if (!traversal) {
      context.report(item.range, fmt::format("Invalid expression: {} needs a list of references", name),
                     fmt::format("write {} = [aws_instance.web]", name));
    } else if (traversal->quoted) {
      context.warn(item.range, "Quoted references are deprecated: a reference is expected without quotes",
                   "remove the quotes");
    }
  }
  if (context.is_override() && !list->items.empty()) {
    context.report(list->items.front().range, fmt::format("Unsupported override: {} may not be overridden", name),
                   "change it in the file that the override is for");
  }
}

void check_literal(const hcl::Body& body, std::string_view name, Literal type, const StructureContext& context) {
  const hcl::Attribute* attribute = body.find(name);
  if (attribute == nullptr) {
    return;
  }
  const hcl::Expression& expression = attribute->value;
  const auto value = hcl::static_value(expression, context.file.path);
  const auto needs = eval::collect_dependencies(expression, context.file.path);
  const bool computed = !value && (!needs || !needs->references.empty() || expression.function_call() != nullptr);
  if (computed || (value && !fits(*value, type))) {
    context.report(expression.range, fmt::format("Unsuitable value: {} must be {} that is written out, found {}", name,
                                                 type == Literal::boolean ? "a bool" : "a string",
                                                 value ? hcl::type_name(*value) : "an expression"));
  }
}

}  // namespace modlock
