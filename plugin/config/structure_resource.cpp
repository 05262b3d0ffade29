#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/config/structure.h"
#include "plugin/config/traversal.h"
#include "plugin/eval/dependencies.h"
#include "plugin/hcl/parser.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

constexpr std::array<std::string_view, 4> kRemovedProvisioners = {"chef", "habitat", "puppet", "salt-masterless"};

struct KindNames {
  std::string_view title;
  std::string_view type_name;
  std::string_view name;
};

KindNames names_of(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::managed:
      return {"a resource block", "resource type", "resource"};
    case ResourceKind::ephemeral:
      return {"an ephemeral block", "ephemeral resource type", "ephemeral resource"};
    default:
      return {"a data block", "data source", "data resource"};
  }
}

bool is_star(const hcl::Expression& expression, const ConfigText& file) {
  const auto value = hcl::static_value(expression, file.path);
  return value && value->as_string() != nullptr && *value->as_string() == "*";
}

void check_ignore_changes(const hcl::Expression& expression, const StructureContext& context) {
  if (read_keyword(expression) == "all") {
    return;
  }
  const auto* list = std::get_if<hcl::Tuple>(&expression.node);
  if (list == nullptr) {
    context.report(expression.range,
                   "Invalid expression: ignore_changes needs a list of arguments, or the keyword all");
    return;
  }
  for (const hcl::Expression& item : list->items) {
    if (is_star(item, context.file)) {
      context.report(item.range, "Invalid ignore_changes wildcard: [\"*\"] is no longer valid",
                     "write ignore_changes = all");
      continue;
    }
    const auto traversal = read_traversal(item, context.file.path, {.quoted = true});
    if (!traversal) {
      context.report(item.range, "Invalid expression: ignore_changes needs a list of arguments of the resource");
    } else if (traversal->quoted) {
      context.warn(item.range, "Quoted references are deprecated: a reference is expected without quotes",
                   "remove the quotes");
    }
  }
}

enum class Trigger { resource, key, none };

Trigger classify(const eval::Reference& reference) {
  constexpr std::array<std::string_view, 9> kOthers = {"var",       "local", "module", "path", "self",
                                                       "terraform", "tofu",  "output", "check"};
  if (reference.object == "each" || reference.object == "count") {
    return reference.attribute == (reference.object == "each" ? "key" : "index") ? Trigger::key : Trigger::none;
  }
  const bool other = std::find(kOthers.begin(), kOthers.end(), reference.object) != kOthers.end();
  return other || reference.attribute.empty() ? Trigger::none : Trigger::resource;
}

// Each item refers to one resource; its key may be each.key or count.index.
void check_triggers(const hcl::Expression& expression, const StructureContext& context) {
  const auto* list = std::get_if<hcl::Tuple>(&expression.node);
  if (list == nullptr) {
    context.report(expression.range, "Invalid expression: replace_triggered_by needs a list of references");
    return;
  }
  for (const hcl::Expression& item : list->items) {
    const bool in_string = std::holds_alternative<hcl::JsonString>(item.node);
    const auto inner = in_string ? hcl::expression_of(item, context.file.path) : Result<hcl::Expression>(fail(Error{}));
    const auto needs = in_string && !inner ? Result<eval::Dependencies>(fail(Error{}))
                                           : eval::collect_dependencies(inner ? *inner : item, context.file.path);
    int resources = 0;
    bool others = !needs;
    for (const eval::Reference& reference : needs ? needs->references : std::vector<eval::Reference>()) {
      const Trigger trigger = classify(reference);
      resources += trigger == Trigger::resource ? 1 : 0;
      others = others || trigger == Trigger::none;
    }
    if (others || resources != 1) {
      context.report(item.range,
                     others ? "Invalid reference in replace_triggered_by expression: only resources, count.index and "
                              "each.key may be used"
                            : fmt::format("Invalid replace_triggered_by expression: {} resource reference",
                                          resources == 0 ? "missing" : "more than one"),
                     "refer to one resource in each item");
    }
  }
}

// Destroy provisioners run when all else may be gone.
void check_only_self(const hcl::Body& body, const StructureContext& context) {
  constexpr std::array<std::string_view, 4> kAllowed = {"self", "path", "terraform", "tofu"};
  for (const hcl::Attribute& attribute : body.attributes) {
    if (attribute.name == "when" || attribute.name == "on_failure") {
      continue;
    }
    const auto needs = eval::collect_dependencies(attribute.value, context.file.path);
    for (const eval::Reference& reference : needs ? needs->references : std::vector<eval::Reference>()) {
      const bool key = (reference.object == "count" && reference.attribute == "index") ||
                       (reference.object == "each" && reference.attribute == "key");
      if (!key && std::find(kAllowed.begin(), kAllowed.end(), reference.object) == kAllowed.end()) {
        context.report(attribute.value.range,
                       "Invalid reference from destroy provisioner: only self, count.index and each.key may be used");
        break;
      }
    }
  }
}

bool check_keyword(const hcl::Body& body, std::string_view name, std::string_view first, std::string_view second,
                   const StructureContext& context) {
  const hcl::Attribute* attribute = body.find(name);
  const std::string keyword =
      attribute != nullptr ? read_keyword(attribute->value, {.quoted = true}) : std::string(first);
  if (keyword != first && keyword != second) {
    context.report(attribute->value.range,
                   fmt::format("Invalid \"{}\" keyword: expected {} or {}", name, first, second));
  } else if (attribute != nullptr && std::holds_alternative<hcl::Template>(attribute->value.node)) {
    context.warn(attribute->value.range, "Quoted keywords are deprecated: a keyword is expected without quotes",
                 "remove the quotes");
  }
  return keyword == second;
}

void check_lifecycle_arguments(const hcl::Block& block, ResourceKind kind, const StructureContext& context) {
  if (kind == ResourceKind::managed) {
    check_literal(block.body, "create_before_destroy", Literal::boolean, context);
    if (context.tool == ClientKind::terraform) {
      check_literal(block.body, "prevent_destroy", Literal::boolean, context);
    }
    if (const hcl::Attribute* ignored = block.body.find("ignore_changes")) {
      check_ignore_changes(ignored->value, context);
    }
    if (const hcl::Attribute* triggers = block.body.find("replace_triggered_by")) {
      check_triggers(triggers->value, context);
    }
    return;
  }
  constexpr std::array<std::string_view, 5> kManagedOnly = {"create_before_destroy", "prevent_destroy", "destroy",
                                                            "ignore_changes", "replace_triggered_by"};
  for (const std::string_view name : kManagedOnly) {
    const hcl::Attribute* attribute = block.body.find(name);
    if (attribute != nullptr && (name != "destroy" || context.tool == ClientKind::opentofu)) {
      context.report(attribute->name_range,
                     fmt::format("Invalid {} lifecycle argument: \"{}\" is defined only for managed resources",
                                 kind == ResourceKind::ephemeral ? "ephemeral resource" : "data resource", name));
    }
  }
}

// Conditions may not refer to the resource that they are in.
void check_condition(const hcl::Block& rule, const hcl::Block& resource, ResourceKind kind,
                     const StructureContext& context) {
  check_rule(rule, context);
  if (kind != ResourceKind::managed || resource.labels.size() != 2 || context.is_override()) {
    return;
  }
  for (const std::string_view name : {"condition", "error_message"}) {
    const hcl::Attribute* attribute = rule.body.find(name);
    const auto needs =
        attribute != nullptr ? eval::collect_dependencies(attribute->value, context.file.path) : eval::Dependencies{};
    const bool itself =
        needs && std::any_of(needs->references.begin(), needs->references.end(), [&](const auto& reference) {
          return reference.object == resource.labels[0].text && reference.attribute == resource.labels[1].text;
        });
    if (itself) {
      context.report(attribute->value.range,
                     fmt::format("Invalid reference in {}: the configuration for {}.{} may not refer to itself",
                                 rule.type, resource.labels[0].text, resource.labels[1].text));
    }
  }
}

void check_lifecycle(const hcl::Block& resource, ResourceKind kind, const StructureContext& context) {
  check_once(resource.body, "lifecycle", names_of(kind).title, context);
  const auto found = std::find_if(resource.body.blocks.begin(), resource.body.blocks.end(),
                                  [](const hcl::Block& block) { return block.type == "lifecycle"; });
  if (found == resource.body.blocks.end()) {
    return;
  }
  if (kind == ResourceKind::nested_data) {
    context.report(found->header_range, "Invalid lifecycle block: the data block of a check has no lifecycle block");
  }
  check_lifecycle_arguments(*found, kind, context);
  for (const hcl::Block& rule : found->body.blocks) {
    if (rule.type == "precondition" || rule.type == "postcondition") {
      check_condition(rule, resource, kind, context);
    }
  }
}

void check_connections(const hcl::Block& resource, ResourceKind kind, const StructureContext& context) {
  if (kind == ResourceKind::managed) {
    check_once(resource.body, "connection", "a resource block", context);
  }
  bool destroys = false;
  for (const hcl::Block& block : resource.body.blocks) {
    const bool provisioner = block.type == "provisioner";
    if (kind == ResourceKind::ephemeral && context.tool == ClientKind::opentofu &&
        (provisioner || block.type == "connection")) {
      context.report(block.header_range,
                     fmt::format("Invalid configuration block for ephemeral resource: \"{}\" cannot be used in "
                                 "ephemeral resources",
                                 block.type));
    } else if (kind == ResourceKind::managed && provisioner) {
      check_provisioner(block, context);
      const hcl::Attribute* when = block.body.find("when");
      destroys = destroys || (when != nullptr && read_keyword(when->value, {.quoted = true}) == "destroy");
    }
  }
  for (const hcl::Block& block : resource.body.blocks) {
    if (destroys && block.type == "connection") {
      check_only_self(block.body, context);
    }
  }
}

}  // namespace

void check_provisioner(const hcl::Block& block, const StructureContext& context) {
  if (block.labels.size() == 1 && std::find(kRemovedProvisioners.begin(), kRemovedProvisioners.end(),
                                            block.labels.front().text) != kRemovedProvisioners.end()) {
    context.report(block.labels.front().range,
                   fmt::format("The \"{}\" provisioner has been removed", block.labels.front().text));
    return;
  }
  const bool destroys = check_keyword(block.body, "when", "create", "destroy", context);
  check_keyword(block.body, "on_failure", "fail", "continue", context);
  check_once(block.body, "_", "a provisioner block", context);
  check_once(block.body, "connection", "a provisioner block", context);
  check_reserved(block.body, "lifecycle", "a provisioner block", context);
  if (!destroys) {
    return;
  }
  check_only_self(block.body, context);
  for (const hcl::Block& inner : block.body.blocks) {
    if (inner.type == "connection") {
      check_only_self(inner.body, context);
    }
  }
}

void check_resource(const hcl::Block& block, ResourceKind kind, const StructureContext& context) {
  const KindNames names = names_of(kind);
  if (block.labels.size() == 2) {
    check_name(block.labels[0], names.type_name, context);
    check_name(block.labels[1], names.name, context);
  }
  if (kind == ResourceKind::nested_data) {
    for (const std::string_view name : {"count", "for_each"}) {
      if (const hcl::Attribute* attribute = block.body.find(name)) {
        context.report(attribute->name_range,
                       fmt::format("Invalid \"{}\" attribute: it is not supported in the data block of a check", name));
      }
    }
  } else {
    check_repetition(block.body, context);
  }
  check_references(block.body, "depends_on", context);
  check_once(block.body, "_", names.title, context);
  check_reserved(block.body, "locals", names.title, context);
  check_lifecycle(block, kind, context);
  check_connections(block, kind, context);
}

}  // namespace modlock
