#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugin/hcl/ast.h"

namespace modlock {

// What a caller wants to know about the parts of an expression. Empty functions are not called.
struct ExpressionVisit {
  // A reference. The names of a variable of a `for` are not passed.
  std::function<void(const std::vector<std::string>& names, const Range& range)> reference = {};
  // An attribute of the items of a reference: `out` of `module.net[each.key].out` and `module.net[*].out`.
  std::function<void(const std::vector<std::string>& names, const std::string& attribute, const Range& range)>
      attribute = {};
  // A string, with its interpolations in canonical form.
  std::function<void(const std::string& text, const Range& range)> text = {};
  // A call, with the canonical form of its arguments.
  std::function<void(const std::string& name, const std::vector<std::string>& arguments, const Range& range)> call = {};
  // A member of an object with a known name.
  std::function<void(const std::string& name, const hcl::Expression& value)> member = {};
};

// Returns a text that is the same for expressions of the same meaning: layout, comments, parentheses, the order of
// object members, the form of a string, and the names of `for` variables do not matter. `path` is for JSON strings,
// which are read as templates.
std::string canonical_text(const hcl::Expression& expression, const std::string& path,
                           const ExpressionVisit& visit = {});

}  // namespace modlock
