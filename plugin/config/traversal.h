#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/hcl/ast.h"

namespace modlock {

// `aws.west["eu"]`: a sequence of names and keys, like HCL's static traversals.
struct Traversal {
  struct Step {
    std::string name;  // the root name, the attribute's, or the key as a literal; empty: an invalid key
    bool key = false;  // [key] or .0
    bool operator==(const Step& other) const = default;
  };
  std::vector<Step> steps;  // at least one

  const std::string& root() const { return steps.front().name; }
};

// Returns the traversal that an expression, or the content of a string, consists of. `true`, `false` and `null` are
// names here. nullopt for any other expression.
std::optional<Traversal> read_traversal(const hcl::Expression& expression, const std::string& path);

}  // namespace modlock
