#pragma once

#include <map>
#include <memory>
#include <string>

#include "plugin/hcl/ast.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// Defaults of optional() attributes, in the shape of the type: for an object its attributes' own defaults, below the
// names of attributes (of a tuple the indices, of a collection "" for all elements) those of what is inside.
struct Defaults {
  std::map<std::string, Value> values = {};
  std::map<std::string, std::shared_ptr<const Defaults>> children = {};
};

// The `type` argument of a variable.
struct TypeConstraint {
  Type type = {};
  std::shared_ptr<const Defaults> defaults = {};  // null: none
};

// Reads `string`, `list(any)`, `object({ a = optional(string, "x") })`, `list` and `map` for those of any, and in JSON
// syntax a string that holds such. The quoted forms "string", "list" and "map" of old are refused, as OpenTofu does.
// Default values of optional() are evaluated without names and functions and converted. Errors: CONFIG_PARSE in `path`
// with the range, in OpenTofu's words; the first one where there are several.
Result<TypeConstraint> parse_type_constraint(const hcl::Expression& expression, const std::string& path);

// The value with defaults put in where attributes of it are missing or null, to be done before convert(). Lists and
// maps whose elements differ then become tuples and objects (typeexpr's Defaults.Apply).
Value apply_defaults(const Value& value, const Defaults& defaults);

}  // namespace modlock::eval
