#pragma once

#include <map>
#include <memory>
#include <string>

#include "plugin/hcl/ast.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// Defaults of optional() attributes, in the shape of the type. `values`: the defaults of an object's own attributes.
// `children`: the defaults inside, by attribute name (for a tuple by index, for a collection "" for all elements).
struct Defaults {
  std::map<std::string, Value> values = {};
  std::map<std::string, std::shared_ptr<const Defaults>> children = {};
};

// The `type` argument of a variable.
struct TypeConstraint {
  Type type = {};
  std::shared_ptr<const Defaults> defaults = {};  // null: none
};

// Reads `string`, `list(any)`, `object({ a = optional(string, "x") })`, bare `list` and `map` (of any), and in JSON
// syntax a string that contains such a type. The old quoted forms "string", "list" and "map" are rejected, as in
// OpenTofu. Default values of optional() are evaluated without names and functions, and converted. Errors: CONFIG_PARSE
// in `path` with the range, in OpenTofu's wording; only the first one is reported.
Result<TypeConstraint> parse_type_constraint(const hcl::Expression& expression, const std::string& path);

// Replaces missing or null attributes by their defaults; call it before convert(). If the elements of a list or map
// differ then, it becomes a tuple or an object (typeexpr's Defaults.Apply).
Value apply_defaults(const Value& value, const Defaults& defaults);

}  // namespace modlock::eval
