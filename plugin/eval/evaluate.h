#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/functions/functions.h"
#include "plugin/hcl/ast.h"
#include "plugin/value/value.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// `var.region`: the first two names of a reference, and where both stand. A name that stands alone has no attribute.
struct Reference {
  std::string_view object;
  std::string_view attribute;
  Location location;
};

// What names mean where an expression stands. A scope remembers what it computed.
class Scope {
 public:
  virtual ~Scope() = default;
  // The value of a reference. Errors are located at the reference and say in OpenTofu's words why it has no value here:
  // CONFIG_NON_STATIC (a resource, a module output, a cycle), CONFIG_PARSE (no such variable).
  virtual Result<Value> resolve(const Reference& reference) = 0;
  virtual const FileAccess& files() const = 0;
};

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
