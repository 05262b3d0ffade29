#include <fmt/format.h>

#include <set>

#include "plugin/config/provider_reference.h"
#include "plugin/config/structure.h"
#include "plugin/config/traversal.h"
#include "plugin/eval/dependencies.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

void check_provider_meta(const hcl::Block& block, const StructureContext& context) {
  if (block.labels.size() == 1) {
    check_local_name(block.labels.front().text, context.file, block.header_range, context.diagnostics);
  }
  for (const hcl::Attribute& attribute : block.body.attributes) {
    const auto needs = eval::collect_dependencies(attribute.value, context.file.path);
    const bool computed =
        !context.file.json && (!needs || !needs->references.empty() || attribute.value.function_call() != nullptr);
    if (computed) {
      context.report(attribute.value.range,
                     fmt::format("Variables not allowed: {} must be a value that is written out", attribute.name));
    }
  }
}

// Fallbacks stand in fallbacks; the parser bounds how deep.
void check_fallbacks(const hcl::Body& body, std::string_view title, const StructureContext& context) {
  check_once(body, "fallback", title, context);
  for (const hcl::Block& block : body.blocks) {
    if (block.type == "fallback") {
      check_fallbacks(block.body, "a fallback block", context);
    }
  }
}

void check_addresses(const hcl::Body& body, std::string_view type, const StructureContext& context) {
  std::set<std::string> seen;
  for (const hcl::Block& block : body.blocks) {
    if (block.type != type) {
      continue;
    }
    std::string address(type);
    for (const hcl::Label& label : block.labels) {
      check_name(label, type, context);
      address += "." + label.text;
    }
    if (!seen.insert(address).second) {
      context.report(block.header_range, fmt::format("Duplicate {}: found multiple instances of {}", type, address),
                     "rename one of them");
    }
  }
}

void check_encryption(const hcl::Block& encryption, const StructureContext& context) {
  constexpr std::string_view kTitle = "an encryption block";
  check_addresses(encryption.body, "key_provider", context);
  check_addresses(encryption.body, "method", context);
  for (const std::string_view type : {"state", "plan", "remote_state_data_sources"}) {
    check_once(encryption.body, type, kTitle, context);
  }
  for (const hcl::Block& block : encryption.body.blocks) {
    if (block.type == "state" || block.type == "plan") {
      check_fallbacks(block.body, fmt::format("a {} block", block.type), context);
      check_literal(block.body, "enforced", Literal::boolean, context);
    } else if (block.type == "remote_state_data_sources") {
      check_once(block.body, "default", "a remote_state_data_sources block", context);
      for (const hcl::Block& target : block.body.blocks) {
        check_fallbacks(target.body, fmt::format("a {} block", target.type), context);
      }
    }
  }
}

// OpenTofu does not read these: only Terraform can know what it means by them.
void check_language(const hcl::Block& block, const StructureContext& context) {
  constexpr std::string_view kEdition = "TF2021";
  if (const hcl::Attribute* experiments = block.body.find("experiments")) {
    context.report(experiments->name_range, "Module uses experimental features: releases of Terraform have none",
                   "remove the argument");
  }
  const hcl::Attribute* language = block.body.find("language");
  if (language != nullptr && read_keyword(language->value) != kEdition) {
    context.report(language->value.range,
                   fmt::format("Unsupported language edition: Terraform only supports the edition {}", kEdition),
                   "remove the argument");
  }
}

}  // namespace

void check_terraform(const hcl::Block& block, const StructureContext& context) {
  if (context.tool == ClientKind::terraform) {
    check_language(block, context);
  }
  for (const hcl::Block& inner : block.body.blocks) {
    if (inner.type == "provider_meta") {
      check_provider_meta(inner, context);
    } else if (inner.type == "encryption" && context.tool == ClientKind::opentofu) {
      check_encryption(inner, context);
    }
  }
}

}  // namespace modlock
