#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/eval/dependencies.h"
#include "plugin/functions/functions.h"
#include "plugin/hcl/ast.h"
#include "plugin/value/value.h"
#include "protocol/base/error.h"

namespace modlock::eval {

// An error before its location is known.
struct Problem {
  std::string message;
  std::string hint = {};
  Code code = Code::config_parse;
};

// Why an expression has no value, and the type its value would have: a conditional compares the types of both branches
// even if only one of them has a value.
struct NoValue {
  // Null: unknown, because a name is bound to no value (see for_expression.cpp).
  std::shared_ptr<const Error> error = {};
  Type type = {};
};

using Outcome = tl::expected<Value, NoValue>;

inline tl::unexpected<NoValue> no_value(NoValue why) {
  return tl::unexpected<NoValue>(std::move(why));
}
// The same reason for an enclosing expression, whose value would have another type.
inline tl::unexpected<NoValue> no_value(const Outcome& inner, Type type = {}) {
  return no_value(NoValue{inner.error().error, std::move(type)});
}

inline Type type_of(const Outcome& outcome) {
  return outcome ? outcome->type() : outcome.error().type;
}
inline Marks marks_of(const Outcome& outcome) {
  return outcome ? outcome->marks() : Marks{};
}
inline bool failed(const Outcome& outcome) {
  return !outcome && outcome.error().error != nullptr;
}

// The rest of the limits of one evaluation. After a limit is exceeded, every later call fails too.
class Budget {
 public:
  // Each returns an error (LIMIT_EXCEEDED), or nullopt if the limit is not exceeded.
  std::optional<Problem> take_step();
  std::optional<Problem> take_text(std::size_t bytes);
  // A new value, and a value that is only referred to and shares its content.
  std::optional<Problem> take_value(const Value& value);
  std::optional<Problem> take_copy(const Value& value);

 private:
  std::size_t steps_ = 0;
  std::size_t text_ = 0;
  std::size_t elements_ = 0;
};

class Scope;

// State shared by an expression and the templates that it renders.
struct Run {
  const FileAccess* files = nullptr;  // null: no function is called
  const Scope* scope = nullptr;       // has more functions; null: none
  Budget budget = {};
  int depth = 0;      // of expressions in expressions
  int templates = 0;  // number of open ones
};

// Increments a counter while it exists.
class DepthGuard {
 public:
  explicit DepthGuard(int& count) : count_(count) { ++count_; }
  ~DepthGuard() { --count_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int& count_;
};

// The values of names.
struct Names {
  std::map<std::pair<std::string_view, std::string_view>, Value> references = {};  // by the parts of a Reference
  Value::Members variables = {};  // the variables of a template, which has no references
  bool refused = false;           // names and functions are not allowed: see constant_value()
};

// Computes expressions like HCL's reference implementation (package hclsyntax). There an expression can have a value
// and errors at the same time, here it has one or the other.
class Evaluator {
 public:
  // `needs` are the dependencies of the expressions to evaluate. All arguments must outlive the evaluator.
  Evaluator(const Dependencies& needs, const Names& names, const std::string& path, Run& run)
      : needs_(needs), names_(names), path_(path), run_(run) {}

  Outcome evaluate(const hcl::Expression& expression);

 private:
  // A name that a for expression binds. NoValue: the name exists, but its value is unknown.
  struct Binding {
    std::string_view name;
    Outcome value;
  };
  struct Loop {
    std::string_view key_variable;
    std::string_view value_variable;
    const hcl::Expression& collection;
    const hcl::Expression* condition;  // null: none
  };
  // Called for each item; a returned reason ends the loop.
  using Step = std::function<std::optional<NoValue>()>;
  struct Argument {
    const hcl::Expression& expression;
    std::optional<Value> item = {};  // the value, if the expression was expanded to its items
  };
  using Arguments = std::vector<Argument>;
  struct Invocation {
    const hcl::FunctionCall& call;
    const Range& range;
    const Arguments& arguments;
    const Function& function;
    Value::Items values;  // converted, with marks; empty for a lazy function
  };
  struct SpecialFunction;
  class Bound;

  Outcome value_of(const hcl::NullLiteral& node, const hcl::Expression& at);
  Outcome value_of(const hcl::BoolLiteral& node, const hcl::Expression& at);
  Outcome value_of(const hcl::NumberLiteral& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Template& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Variable& node, const hcl::Expression& at);
  Outcome value_of(const hcl::FunctionCall& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Tuple& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Object& node, const hcl::Expression& at);
  Outcome value_of(const hcl::For& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Unary& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Binary& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Conditional& node, const hcl::Expression& at);
  Outcome value_of(const hcl::GetAttribute& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Index& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Splat& node, const hcl::Expression& at);
  Outcome value_of(const hcl::SplatItem& node, const hcl::Expression& at);
  Outcome value_of(const hcl::Parentheses& node, const hcl::Expression& at);
  Outcome value_of(const hcl::JsonString& node, const hcl::Expression& at);

  // evaluator.cpp
  static tl::unexpected<NoValue> reject(Error error, Type type = {});
  tl::unexpected<NoValue> reject(const Range& range, Problem problem, Type type = {}) const;
  Outcome within_limits(Value value, const Range& range);
  Outcome referred(const Value& value, const Range& range);
  // Evaluates to a value of this type. `null` is the problem of a null; `wrong` starts the message about another value.
  Outcome required(const hcl::Expression& expression, const Type& type, Problem null, std::string_view wrong);
  const Outcome* bound_value(std::string_view name) const;
  Outcome object_key(const hcl::ObjectItem& item);
  tl::unexpected<NoValue> reject_name(std::string_view name, const Range& range) const;

  // operators.cpp
  Outcome operand(const hcl::Expression& expression, const Type& type, std::string_view which);
  Outcome equality(const hcl::Binary& node);
  Outcome logic(const hcl::Binary& node, const Range& range);
  Outcome arithmetic(const hcl::Binary& node, const Range& range);

  struct Branch {
    Outcome outcome;
    Range range;
  };
  Outcome choose(const hcl::Expression& condition, const Branch& when_true, const Branch& when_false);

  // template.cpp
  Outcome text_of(const std::vector<hcl::TemplatePart>& parts, const Range& range);
  Outcome part_value(const hcl::TemplatePart& part);
  Outcome loop_text(const hcl::TemplateFor& loop, const Range& range);

  // for_expression.cpp
  Outcome iterable(const hcl::Expression& collection);
  // Runs the step for each item that the condition selects. Returns the marks of the collection and the conditions.
  tl::expected<Marks, NoValue> iterate(const Loop& loop, const Step& step);
  Outcome tuple_for(const hcl::For& node, const Loop& loop, const Range& range);
  Outcome object_for(const hcl::For& node, const Loop& loop, const Range& range);

  // traversal.cpp
  Outcome each_of(const hcl::Splat& node, const Outcome& item);
  Outcome list_splat(const hcl::Splat& node, Value::Items items, const Type& element, const Range& range);

  // call.cpp
  tl::expected<Arguments, NoValue> expanded(const hcl::FunctionCall& call);
  Outcome argument_value(const Argument& argument);
  std::optional<NoValue> evaluate_arguments(Invocation& invocation);
  Outcome call_function(const Invocation& invocation);
  // The error of a function that rejects its arguments.
  Error call_error(const Invocation& invocation, FunctionError error) const;
  tl::unexpected<NoValue> reject_call(const Invocation& invocation, FunctionError error) const {
    return reject(call_error(invocation, std::move(error)));
  }

  static const SpecialFunction* find_special(std::string_view name);
  Outcome try_each(const Invocation& invocation);
  Outcome can(const Invocation& invocation);
  Outcome convert_value(const Invocation& invocation);
  Outcome sensitive(const Invocation& invocation);
  Outcome nonsensitive(const Invocation& invocation);
  Outcome issensitive(const Invocation& invocation);
  Outcome ephemeralasnull(const Invocation& invocation);

  Outcome templatefile(const Invocation& invocation);
  Outcome templatestring(const Invocation& invocation);
  struct TemplateText;
  Outcome render(const Invocation& invocation, const TemplateText& text, const Value& variables);

  const Dependencies& needs_;
  const Names& names_;
  const std::string& path_;
  Run& run_;
  std::vector<Binding> bindings_;
  std::vector<Outcome> splat_items_;
};

}  // namespace modlock::eval
