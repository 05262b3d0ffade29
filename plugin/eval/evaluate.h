#pragma once

#include <cstddef>
#include <string>

#include "plugin/eval/scope.h"
#include "plugin/hcl/ast.h"
#include "plugin/value/limits.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// The value of an expression by HCL's rules. Every reference in it is resolved first, also in branches that are not
// taken and inside try(), as OpenTofu does; then it is computed. Locations name `path`.
// Errors: those of Scope::resolve(); CONFIG_PARSE for what is wrong in the expression itself (an operand of the wrong
// type, an index that is not there, an unknown function, a function that refuses its arguments); CONFIG_NON_STATIC for
// functions whose value is another each time or not known before apply; the codes of FileAccess for files;
// LIMIT_EXCEEDED for what is beyond the limits below. try() and can() catch CONFIG_PARSE and NOT_FOUND only: what the
// others refuse may well have a value in OpenTofu. No message holds a value that is sensitive or ephemeral.
Result<Value> evaluate(const hcl::Expression& expression, const std::string& path, Scope& scope);

// The limits of one evaluation. It makes at most kMaxElements elements and kMaxTextBytes of text in all, and no value
// of more than kMaxElements parts.
inline constexpr std::size_t kMaxSteps = 4'000'000;
inline constexpr std::size_t kMaxNesting = 1000;  // of values in values
inline constexpr int kMaxDepth = 1300;    // of expressions in expressions, also through templates that they render
inline constexpr int kMaxTemplates = 16;  // of templates in templates

}  // namespace modlock::eval
