#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/hcl/ast.h"

namespace modlock {

// `aws.west["eu"]`: names and keys that stand one behind the other, as HCL's static traversals.
struct Traversal {
  struct Step {
    std::string name;  // the root name, the attribute's, or the key as a literal; empty: a key that is none
    bool key = false;  // [key] or .0
    bool operator==(const Step& other) const = default;
  };
  std::vector<Step> steps;  // at least one

  const std::string& root() const { return steps.front().name; }
};

// The traversal that an expression is, or that stands in a string. `true`, `false` and `null` count as names. nullopt
// for any other expression.
std::optional<Traversal> read_traversal(const hcl::Expression& expression, const std::string& path);

}  // namespace modlock
