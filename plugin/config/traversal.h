#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/hcl/ast.h"

namespace modlock {

// `aws.west["eu"]`: names and keys that stand one behind the other, as HCL's static traversals.
struct Traversal {
  struct Step {
    std::string name;  // the root name, the attribute's, or the key's text
    bool key = false;  // [key] or .0
    Range range = {};  // of the name or key
    bool operator==(const Step& other) const { return name == other.name && key == other.key; }
  };
  std::vector<Step> steps;  // at least one
  Range range = {};
  bool quoted = false;      // stood in quotes in native syntax, which is deprecated
  bool static_keys = true;  // every key is written out

  const std::string& root() const { return steps.front().name; }
};

struct TraversalOptions {
  bool quoted = false;        // take "aws.west" in native syntax for the reference in it
  bool dynamic_keys = false;  // take keys that are no literals
};

// The traversal that an expression is; in JSON syntax the one that the string holds. `true`, `false` and `null` count
// as names. nullopt for any other expression.
std::optional<Traversal> read_traversal(const hcl::Expression& expression, const std::string& path,
                                        TraversalOptions options = {});

// The name that stands alone: `all`, in JSON syntax "all". Empty for any other expression.
std::string read_keyword(const hcl::Expression& expression, TraversalOptions options = {});

}  // namespace modlock
