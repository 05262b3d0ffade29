#pragma once

#include <string>

#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// The two ways to read a JsonString that is not taken literally. `expression.node` must hold one; ranges of the result
// are mapped back onto the bytes of the file, through escapes. Errors: CONFIG_PARSE located in `path`, LIMIT_EXCEEDED.

// As a template, which is what evaluation does: "${var.a}" alone is the reference itself, "plain" a Template.
Result<Expression> template_of(const Expression& expression, const std::string& path);
// As an expression: "aws.west", "list(string)".
Result<Expression> expression_of(const Expression& expression, const std::string& path);

}  // namespace modlock::hcl
