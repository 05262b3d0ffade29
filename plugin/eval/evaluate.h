#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/functions/functions.h"
#include "plugin/hcl/ast.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// `var.region`: the first two names of a reference, and their location. A single name has no attribute.
struct Reference {
  std::string_view object;
  std::string_view attribute;
  Location location;
};

// The meaning of names at the place of an expression. A scope caches the values it computed.
class Scope {
 public:
  virtual ~Scope() = default;
  // Returns the value of a reference. Errors are located at the reference and state in OpenTofu's wording why it has no
  // value here: CONFIG_NON_STATIC (a resource, a module output, a cycle), CONFIG_PARSE (no such variable).
  virtual Result<Value> resolve(const Reference& reference) = 0;
  virtual const FileAccess& files() const = 0;
  // Returns a function that OpenTofu does not have; null: there is none of this name.
  virtual const Function* find_function(std::string_view /*name*/) const { return nullptr; }
};

// Returns the value of an expression by HCL's rules. Resolves every reference in it before it computes anything, also
// in branches that are not taken and inside try(), as OpenTofu does. Locations name `path`.
// Errors: those of Scope::resolve(); CONFIG_PARSE for errors in the expression itself (an operand of the wrong type, an
// index that does not exist, an unknown function, a function that rejects its arguments); CONFIG_NON_STATIC for
// functions whose value differs at each call or is not known before apply; the codes of FileAccess for files;
// LIMIT_EXCEEDED beyond the limits below. try() and can() catch only CONFIG_PARSE and NOT_FOUND: for the other errors
// OpenTofu may well have a value. Messages never contain a sensitive or ephemeral value.
Result<Value> evaluate(const hcl::Expression& expression, const std::string& path, Scope& scope);

// The limits of one evaluation. It creates at most kMaxElements elements and kMaxTextBytes of text in total, and no
// value of more than kMaxElements parts.
inline constexpr std::size_t kMaxSteps = 4'000'000;
inline constexpr std::size_t kMaxNesting = 1000;  // of values in values
inline constexpr int kMaxDepth = 1300;    // of expressions in expressions, also through templates that they render
inline constexpr int kMaxTemplates = 16;  // of templates in templates

// Returns the value of an expression where OpenTofu allows neither references nor functions: the default of a variable
// or of an optional attribute, a value in a file of variable values, a flag. The variables of a `for` are not allowed
// either, but parts that are not computed, such as the other branch of a conditional, may use them. In JSON syntax
// (`json`) strings are literal, without templates. Otherwise the names in `variables` have those values. Errors:
// CONFIG_PARSE with the range, located in `path`.
Result<Value> constant_value(const hcl::Expression& expression, bool json, const std::string& path,
                             const Value::Members& variables = {});

}  // namespace modlock::eval
