#include "plugin/eval/evaluate.h"

#include "plugin/eval/dependencies.h"
#include "plugin/eval/evaluator.h"

namespace modlock::eval {

Result<Value> evaluate(const hcl::Expression& expression, const std::string& path, Scope& scope) {
  const Result<Dependencies> needs = collect_dependencies(expression, path);
  if (!needs) return fail(needs.error());
  Names names;
  for (const Reference& reference : needs->references) {
    const std::pair key{reference.object, reference.attribute};
    if (names.references.count(key) != 0) continue;
    Result<Value> value = scope.resolve(reference);
    if (!value) return fail(std::move(value).error());
    names.references.emplace(key, std::move(*value));
  }
  Run run{scope.files()};
  Outcome outcome = Evaluator(*needs, names, path, run).evaluate(expression);
  // Without an error only names of a for are unknown, and none is bound out here.
  if (!outcome) return fail(*outcome.error().error);
  return std::move(*outcome);
}

}  // namespace modlock::eval
