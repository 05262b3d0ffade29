#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugin/eval/evaluate.h"
#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// The references and strings that must be known before an expression can be computed. Points into the expression, which
// must outlive it.
struct Dependencies {
  std::vector<Reference> references;        // in source order; without the names that a for expression binds
  std::vector<std::string_view> functions;  // the names of all calls
  std::unordered_map<const hcl::Expression*, hcl::Expression> strings;  // the template in each JsonString
};

// Whether it is convert(value, type): its second argument is a type, not a value.
bool is_conversion(const hcl::FunctionCall& call);

// Errors: CONFIG_PARSE for a string of JSON syntax that is not a template; CONFIG_NON_STATIC for a function of a
// provider.
Result<Dependencies> collect_dependencies(const hcl::Expression& expression, const std::string& path);

}  // namespace modlock::eval
