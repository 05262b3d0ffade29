#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// A literal value: no references, no functions, no operators.
struct Value;
struct NullValue {
  bool operator==(const NullValue&) const = default;
};
struct NumberValue {
  std::string text;  // as written, including a leading minus
  bool operator==(const NumberValue&) const = default;
};
using TupleValue = std::vector<Value>;
struct ObjectMember;
using ObjectValue = std::vector<ObjectMember>;  // in source order; the last of equal keys wins

struct Value {
  std::variant<NullValue, bool, NumberValue, std::string, TupleValue, ObjectValue> data;
  Range range;

  const std::string* as_string() const { return std::get_if<std::string>(&data); }
  const TupleValue* as_tuple() const { return std::get_if<TupleValue>(&data); }
  bool is_null() const { return std::holds_alternative<NullValue>(data); }
};

// Named like the members of a pair: `for (const auto& [key, value] : *object)`.
struct ObjectMember {
  std::string first;
  Value second;
};

// "a string", "a number", … for messages.
std::string_view type_name(const Value& value);

// Returns the value of an expression made of literals, strings without interpolation, tuples and objects. Strings are
// NFC-normalized as in HCL. Anything else is CONFIG_NON_STATIC with the range of the first dynamic part, located in
// `path`.
Result<Value> static_value(const Expression& expression, const std::string& path);

// Returns static_value() if it is a string. `what` names it in messages ("the source of module \"vpc\""). Another type
// is `wrong_type` with the range of the expression.
Result<std::string> static_string(const Expression& expression, const std::string& path, std::string_view what,
                                  Code wrong_type);

}  // namespace modlock::hcl
