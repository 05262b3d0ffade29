#pragma once

#include <string>
#include <string_view>

#include "plugin/functions/functions.h"
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

}  // namespace modlock::eval
