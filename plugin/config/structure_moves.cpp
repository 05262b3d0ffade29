#include <fmt/format.h>

#include "plugin/config/object_address.h"
#include "plugin/config/structure.h"
#include "plugin/config/traversal.h"

namespace modlock {
namespace {

constexpr std::string_view kAddressHint = "write an address such as aws_instance.web or module.network";

// The address in an argument; what is wrong with it is reported.
std::optional<ObjectAddress> read_address(const hcl::Attribute& attribute, ClientKind tool,
                                          const StructureContext& context) {
  const auto traversal = read_traversal(attribute.value, context.file.path);
  auto address = traversal ? read_object_address(*traversal, tool) : std::nullopt;
  if (!address) {
    context.report(attribute.value.range,
                   fmt::format("Invalid address: {} must be the address of a resource or module", attribute.name),
                   std::string(kAddressHint));
  }
  return address;
}

// Blocks that override files may not have.
void check_place(const hcl::Block& block, const StructureContext& context) {
  // Terraform leaves removed blocks there unread.
  const bool ignored = block.type == "removed" && context.tool == ClientKind::terraform;
  if (context.is_override() && !ignored) {
    context.report(
        block.header_range,
        fmt::format("Cannot override {0} blocks: {0} blocks can appear only in normal files, not in override "
                    "files",
                    block.type),
        "move the block to another file");
  }
}

// `null.x` begins with a literal, which only some readers of references take for a name.
bool starts_with_name(const Traversal& traversal) {
  const std::string& root = traversal.root();
  return root != "null" && root != "true" && root != "false";
}

bool is_destroy(const hcl::Block& provisioner) {
  const hcl::Attribute* when = provisioner.body.find("when");
  return when != nullptr && read_keyword(when->value, {.quoted = true}) == "destroy";
}

}  // namespace

void check_moved(const hcl::Block& block, const StructureContext& context) {
  check_place(block, context);
  std::optional<ObjectAddress> ends[2];
  std::size_t at = 0;
  for (const std::string_view name : {"from", "to"}) {
    const hcl::Attribute* attribute = block.body.find(name);
    std::optional<ObjectAddress>& end = ends[at++];
    end = attribute != nullptr ? read_address(*attribute, context.tool, context) : std::nullopt;
    if (end && end->mode == "ephemeral" && context.tool == ClientKind::opentofu) {
      context.report(
          attribute->value.range,
          fmt::format("Invalid moved address: the ephemeral resource that \"{}\" names cannot be moved", name));
      end.reset();
    }
  }
  if (ends[0] && ends[1] && ends[0]->is_module() != ends[1]->is_module()) {
    context.report(block.header_range,
                   "Invalid moved addresses: \"from\" and \"to\" must both refer to resources or both to modules");
  }
}

void check_removed(const hcl::Block& block, const StructureContext& context) {
  check_place(block, context);
  const hcl::Attribute* from = block.body.find("from");
  // Terraform's own rules for addresses are not those of removed blocks.
  const auto address = from != nullptr ? read_address(*from, ClientKind::opentofu, context) : std::nullopt;
  if (address && (address->key || address->module_keys)) {
    context.report(from->value.range, "Address with keys is not allowed: \"from\" must name a whole resource or module",
                   "remove the keys in brackets");
  } else if (address && !address->mode.empty()) {
    context.report(from->value.range,
                   fmt::format("{} address is not allowed: only managed resources and modules can be removed so",
                               address->mode == "data" ? "Data source" : "Ephemeral resource"),
                   "remove the block of the resource instead");
  }
  check_once(block.body, "lifecycle", "a removed block", context);
  for (const hcl::Block& inner : block.body.blocks) {
    if (inner.type == "lifecycle") {
      check_literal(inner.body, "destroy", Literal::boolean, context);
    } else if (inner.type == "provisioner") {
      check_provisioner(inner, context);
      if (!is_destroy(inner)) {
        context.report(inner.header_range,
                       "Invalid removed.provisioner block: removed blocks can only contain destroy provisioners",
                       "write when = destroy");
      } else if (address && address->is_module()) {
        context.report(block.header_range,
                       "Invalid removed block: a removed block with provisioners can only target a resource");
      }
    }
  }
}

void check_import(const hcl::Block& block, const StructureContext& context) {
  check_place(block, context);
  if (const hcl::Attribute* to = block.body.find("to")) {
    const auto traversal = read_traversal(to->value, context.file.path, {.dynamic_keys = true});
    const auto address = traversal ? read_object_address(*traversal, context.tool) : std::nullopt;
    const bool is_data = address && address->mode == "data" && context.tool == ClientKind::terraform;
    if (!address || address->is_module() || is_data || !starts_with_name(*traversal)) {
      context.report(to->value.range, "Invalid import address expression: \"to\" must be the address of a resource",
                     "write an address such as aws_instance.web or module.network.aws_subnet.this[0]");
    }
  }
  const hcl::Attribute* id = block.body.find("id");
  const hcl::Attribute* identity = context.tool == ClientKind::opentofu ? block.body.find("identity") : nullptr;
  if (id == nullptr && identity == nullptr) {
    context.report(block.header_range,
                   context.tool == ClientKind::opentofu
                       ? "Missing required import argument: one of \"id\" and \"identity\" must be given"
                       : "Missing required argument: an import block needs the argument \"id\"");
  } else if (id != nullptr && identity != nullptr) {
    context.report(identity->range(), "Conflicting import arguments: only one of \"id\" and \"identity\" can be given");
  }
}

}  // namespace modlock
