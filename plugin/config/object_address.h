#pragma once

#include <optional>
#include <string>

#include "plugin/config/traversal.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// `module.a["x"].data.aws_ami.this[0]`: a resource, or a module where type and name are empty.
struct ObjectAddress {
  std::string module = {};  // "module.a.module.b", without keys; empty: this module
  std::string mode = {};    // "data", "ephemeral", or empty for a managed resource
  std::string type = {};
  std::string name = {};
  bool module_keys = false;  // a module has a key
  bool key = false;          // the resource has one

  bool is_module() const { return type.empty(); }
  // Without keys: "module.a.data.aws_ami.this".
  std::string to_string() const;
};

// What a traversal addresses, or nullopt where it is no such address. To Terraform `resource.a.b` is a.b, and what
// names something else in expressions (`local.x`) is no resource.
std::optional<ObjectAddress> read_object_address(const Traversal& traversal, ClientKind tool);

}  // namespace modlock
