#include "plugin/hcl/ast.h"

#include <algorithm>

namespace modlock::hcl {

const Attribute* Body::find(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& attribute) { return attribute.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

const FunctionCall* Expression::function_call() const {
  const auto* call = std::get_if<Boxed<FunctionCall>>(&node);
  return call == nullptr ? nullptr : &static_cast<const FunctionCall&>(*call);
}

}  // namespace modlock::hcl
