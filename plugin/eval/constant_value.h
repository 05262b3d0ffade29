#pragma once

#include <string>

#include "plugin/hcl/ast.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// Returns the value of an expression where OpenTofu allows neither references nor functions: the default of a variable
// or of an optional attribute, a value in a file of variable values, a flag. The variables of a `for` are not allowed
// either, but parts that are not computed, such as the other branch of a conditional, may use them. In JSON syntax
// (`json`) strings are literal, without templates. Otherwise the names in `variables` have those values. Errors:
// CONFIG_PARSE with the range, located in `path`.
Result<Value> constant_value(const hcl::Expression& expression, bool json, const std::string& path,
                             const Value::Members& variables = {});

}  // namespace modlock::eval
