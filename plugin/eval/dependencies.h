#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/eval/evaluate.h"
#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// What an expression needs before it can be computed. Points into the expression, which must outlive it.
struct Dependencies {
  std::vector<Reference> references;  // in source order; without names that a for binds
  std::unordered_map<const hcl::Expression*, hcl::Expression> strings;  // of each JsonString what it holds as template
};

// Errors: CONFIG_PARSE for a string of JSON syntax that is no template; CONFIG_NON_STATIC for a function of a provider.
Result<Dependencies> collect_dependencies(const hcl::Expression& expression, const std::string& path);

}  // namespace modlock::eval
