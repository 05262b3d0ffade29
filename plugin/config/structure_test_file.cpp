#include <fmt/format.h>

#include <set>
#include <utility>

#include "plugin/config/object_address.h"
#include "plugin/config/structure.h"
#include "plugin/config/traversal.h"
#include "plugin/eval/constant_value.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

// An argument whose value is one of two words without quotes.
void check_keyword(const hcl::Body& body, std::string_view name, std::string_view first, std::string_view second,
                   const StructureContext& context) {
  const hcl::Attribute* attribute = body.find(name);
  const std::string keyword = attribute != nullptr ? read_keyword(attribute->value) : std::string(first);
  if (keyword != first && keyword != second) {
    context.report(attribute->value.range,
                   fmt::format("Invalid \"{}\" keyword: expected {} or {}", name, first, second),
                   "write one of the two without quotes");
  }
}

void check_constant_object(const hcl::Body& body, std::string_view name, const StructureContext& context) {
  const hcl::Attribute* attribute = body.find(name);
  if (attribute == nullptr || context.tool == ClientKind::terraform) {
    return;
  }
  auto value = eval::constant_value(attribute->value, context.file.json, context.file.path);
  if (!value) {
    context.diagnostics.push_back({Severity::error, std::move(value.error())});
  } else if (!value->is(eval::Type::Kind::object)) {
    context.report(attribute->value.range,
                   fmt::format("Object expected: {} must be an object, found {}", name, value->type().friendly_name()));
  }
}

// override_resource, override_data and override_module.
void check_override_target(const hcl::Block& block, const StructureContext& context) {
  const bool of_module = block.type == "override_module";
  if (const hcl::Attribute* target = block.body.find("target")) {
    const auto traversal = read_traversal(target->value, context.file.path);
    const auto address = traversal ? read_object_address(*traversal, context.tool) : std::nullopt;
    const bool keyed = address && (address->key || address->module_keys) && context.tool == ClientKind::opentofu;
    if (!address || address->is_module() != of_module || keyed) {
      context.report(target->value.range,
                     fmt::format("Invalid target: {} needs the address of a {} without keys", block.type,
                                 of_module ? "module" : "resource"),
                     of_module ? "write an address such as module.network" : "write an address such as aws_x.y");
    }
  }
  check_constant_object(block.body, of_module ? "outputs" : "values", context);
}

bool is_override(std::string_view type) {
  return type == "override_resource" || type == "override_data" || type == "override_module";
}

void check_plan_options(const hcl::Block& block, const StructureContext& context) {
  check_keyword(block.body, "mode", "normal", "refresh-only", context);
  check_literal(block.body, "refresh", Literal::boolean, context);
  check_references(block.body, "replace", context);
  check_references(block.body, "target", context);
  const hcl::Attribute* mode = block.body.find("mode");
  const hcl::Attribute* refresh = block.body.find("refresh");
  if (mode == nullptr || refresh == nullptr || read_keyword(mode->value) != "refresh-only") {
    return;
  }
  const auto value = hcl::static_value(refresh->value, context.file.path);
  const auto* flag = value ? std::get_if<bool>(&value->data) : nullptr;
  if (flag != nullptr && !*flag) {
    context.report(refresh->range(), "Incompatible plan options: \"refresh\" cannot be false in the mode refresh-only",
                   "remove one of the two");
  }
}

void check_run(const hcl::Block& block, const StructureContext& context) {
  constexpr std::string_view kTitle = "a run block";
  if (block.labels.size() == 1) {
    check_name(block.labels.front(), "run block", context);
  }
  for (const std::string_view type : {"plan_options", "variables", "module"}) {
    check_once(block.body, type, kTitle, context);
  }
  check_keyword(block.body, "command", "apply", "plan", context);
  check_passed_providers(block.body, context);
  check_references(block.body, "expect_failures", context);
  for (const hcl::Block& inner : block.body.blocks) {
    if (inner.type == "assert") {
      check_rule(inner, context);
    } else if (inner.type == "plan_options") {
      check_plan_options(inner, context);
    } else if (is_override(inner.type)) {
      check_override_target(inner, context);
    }
  }
}

void check_mock_provider(const hcl::Block& block, const StructureContext& context) {
  check_alias(block, context);
  std::set<std::pair<std::string_view, std::string_view>> mocked;
  for (const hcl::Block& inner : block.body.blocks) {
    if (is_override(inner.type)) {
      check_override_target(inner, context);
      continue;
    }
    check_constant_object(inner.body, "defaults", context);
    if (inner.labels.size() == 1 && !mocked.emplace(inner.type, inner.labels.front().text).second) {
      context.report(inner.header_range,
                     fmt::format("Duplicate {} block: {} is mocked already", inner.type, inner.labels.front().text),
                     "move everything into one block");
    }
  }
}

// A provider or mock_provider block; `names` are those of the blocks before.
void check_written_once(const hcl::Block& block, std::set<std::string>& names, const StructureContext& context) {
  if (block.labels.size() != 1) {
    return;
  }
  const hcl::Attribute* alias = block.body.find("alias");
  const auto value = alias != nullptr ? hcl::static_value(alias->value, context.file.path) : hcl::Value{};
  const std::string* text = value ? value->as_string() : nullptr;
  const std::string name = block.labels.front().text + (text != nullptr && !text->empty() ? "." + *text : "");
  if (!names.insert(name).second) {
    const std::string_view what = block.type == "provider" ? "configured" : "mocked";
    context.report(block.header_range, fmt::format("Duplicate {} block: {} is {} already", block.type, name, what),
                   "give one of the two another alias");
  }
}

void check_no_version(const hcl::Block& provider, const StructureContext& context) {
  if (const hcl::Attribute* version = provider.body.find("version")) {
    context.report(version->range(), "Version constraints are not allowed in test files",
                   "move the constraint into required_providers");
  }
}

}  // namespace

void check_test_file(const hcl::Body& body, const StructureContext& context) {
  check_once(body, "variables", "a test file", context);
  std::set<std::string> providers;  // that are mocked; to Terraform blocks and mocks share their names
  for (const hcl::Block& block : body.blocks) {
    if (block.type == "run") {
      check_run(block, context);
    } else if (block.type == "provider") {
      check_provider(block, context);
      if (context.tool == ClientKind::terraform) {
        check_written_once(block, providers, context);
        check_no_version(block, context);
      }
    } else if (is_override(block.type)) {
      check_override_target(block, context);
    } else if (block.type == "mock_provider") {
      check_mock_provider(block, context);
      check_written_once(block, providers, context);
    }
  }
}

}  // namespace modlock
