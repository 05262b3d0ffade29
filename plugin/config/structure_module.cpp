#include <fmt/format.h>

#include <set>

#include "plugin/config/module_call.h"
#include "plugin/config/provider_reference.h"
#include "plugin/config/structure.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/value.h"

namespace modlock {

void check_passed_providers(const hcl::Body& body, const StructureContext& context) {
  const hcl::Attribute* attribute = body.find("providers");
  if (attribute == nullptr) {
    return;
  }
  const auto* object = std::get_if<hcl::Object>(&attribute->value.node);
  if (object == nullptr) {
    context.report(attribute->value.range, "Invalid expression: providers needs an object of provider references",
                   "write providers = { aws = aws.west }");
    return;
  }
  std::set<std::string> seen;
  for (const hcl::ObjectItem& item : object->items) {
    const auto key = read_provider_reference(item.key, "providers", context.file, context.diagnostics);
    const auto value = read_provider_reference(item.value, "providers", context.file, context.diagnostics);
    if (key && value && !seen.insert(key->to_string()).second) {
      context.report(item.value.range,
                     fmt::format("Duplicate provider address: a provider configuration was already passed to {}",
                                 key->to_string()),
                     "assign each provider configuration of the child module once");
    }
  }
}

void check_alias(const hcl::Block& block, const StructureContext& context) {
  const hcl::Attribute* alias = block.body.find("alias");
  const hcl::Attribute* for_each = block.body.find("for_each");
  if (alias == nullptr) {
    if (for_each != nullptr && context.tool == ClientKind::opentofu) {
      context.report(for_each->value.range,
                     "Alias required when using \"for_each\": it is allowed only in provider blocks with an alias",
                     "give the block an alias");
    }
    return;
  }
  check_literal(block.body, "alias", Literal::text, context);
  const auto value = hcl::static_value(alias->value, context.file.path);
  if (value && value->as_string() != nullptr && !is_identifier(*value->as_string())) {
    context.report(alias->value.range,
                   fmt::format("Invalid provider configuration alias: {} is no name",
                               hcl::quoted_for_message(*value->as_string())),
                   "use a letter or underscore, then letters, digits, underscores and dashes");
  }
}

void check_module(const hcl::Block& block, const StructureContext& context) {
  constexpr std::string_view kTitle = "a module block";
  check_repetition(block.body, context);
  check_references(block.body, "depends_on", context);
  check_passed_providers(block.body, context);
  check_once(block.body, "_", kTitle, context);
  check_reserved(block.body, "locals", kTitle, context);
  check_reserved(block.body, "provider", kTitle, context);
  if (context.tool == ClientKind::terraform) {
    check_reserved(block.body, "lifecycle", kTitle, context);
  } else {
    check_once(block.body, "lifecycle", kTitle, context);
  }
}

void check_provider(const hcl::Block& block, const StructureContext& context) {
  constexpr std::string_view kTitle = "a provider block";
  check_alias(block, context);
  for (const std::string_view name : {"count", "depends_on", "source", "for_each"}) {
    const hcl::Attribute* attribute = block.body.find(name);
    if (attribute != nullptr && (name != "for_each" || context.tool == ClientKind::terraform)) {
      context.report(attribute->name_range,
                     fmt::format("Reserved argument name in provider block: \"{}\" is reserved for a future version of "
                                 "{}",
                                 name, display_name(context.tool)));
    }
  }
  check_once(block.body, "_", kTitle, context);
  check_reserved(block.body, "lifecycle", kTitle, context);
  check_reserved(block.body, "locals", kTitle, context);
}

}  // namespace modlock
