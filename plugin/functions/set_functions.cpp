#include <algorithm>
#include <iterator>
#include <vector>

#include "plugin/functions/function_tables.h"
#include "plugin/value/convert.h"
#include "plugin/value/value.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

bool is_before(const Value& left, const Value& right) {
  return Value::compare(left, right) < 0;
}

// The element type of the result of a set operation; nullopt if the sets have none in common.
std::optional<Type> common_element(std::span<const Value> sets) {
  std::vector<Type> types;
  for (const Value& set : sets) {
    // An empty set of unknown type fits any other set.
    if (set.size() > 0 || !set.type().element().is(Kind::dynamic)) {
      types.push_back(set.type().element());
    }
  }
  return types.empty() ? Type::dynamic() : unify_unsafe(types);
}

template <const auto& operation>
FunctionResult combine(const Call& call) {
  const auto element = common_element(call.arguments);
  if (!element) {
    return refuse("given sets must all have compatible element types");
  }
  const Type type = Type::set(*element);
  Value::Items result;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto set = convert(call.arguments[i], type);
    if (!set) {
      return refuse_argument(i, set.error());
    }
    if (i == 0) {
      result = set->items();
      continue;
    }
    Value::Items combined;
    operation(result, set->items(), std::back_inserter(combined), is_before);
    result = std::move(combined);
    if (result.size() > kMaxElements) {
      return too_many_elements();
    }
  }
  return Value::set(*element, std::move(result));
}

// The type that the elements of an argument of setproduct() are converted to.
tl::expected<Type, FunctionError> factor_type(std::span<const Value> arguments, std::size_t at) {
  const Type& type = arguments[at].type();
  if (type.is(Kind::set) || type.is(Kind::list)) {
    return type.element();
  }
  if (!type.is(Kind::tuple)) {
    return refuse_argument(at, "a set or a list is required");
  }
  const auto common = unify_unsafe(type.items());
  if (!common) {
    return refuse_argument(at, "all elements must be of the same type");
  }
  return *common;
}

tl::expected<Value::Items, FunctionError> factor(std::span<const Value> arguments, std::size_t at, const Type& type) {
  Value::Items items;
  for (const Value& item : arguments[at].items()) {
    auto converted = convert(item, type);
    if (!converted) {
      return refuse_argument(at, converted.error());
    }
    items.push_back(*std::move(converted));
  }
  return items;
}

// All combinations; the last factor changes fastest.
Value::Items combinations(const std::vector<Value::Items>& factors, std::size_t total) {
  Value::Items all;
  all.reserve(total);
  for (std::size_t n = 0; n < total; ++n) {
    Value::Items chosen(factors.size());
    std::size_t rest = n;
    for (std::size_t i = factors.size(); i-- > 0;) {
      chosen[i] = factors[i][rest % factors[i].size()];
      rest /= factors[i].size();
    }
    all.push_back(Value::tuple(std::move(chosen)));
  }
  return all;
}

FunctionResult setproduct(const Call& call) {
  if (call.arguments.size() < 2) {
    return refuse("at least two arguments are required");
  }
  std::vector<Type> types;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    MODLOCK_TRY(const auto type, factor_type(call.arguments, i));
    types.push_back(type);
  }
  const bool is_empty = std::ranges::any_of(call.arguments, [](const Value& set) { return set.size() == 0; });
  std::vector<Value::Items> factors;
  std::size_t total = is_empty ? 0 : 1;
  for (std::size_t i = 0; i < call.arguments.size() && !is_empty; ++i) {
    MODLOCK_TRY(auto items, factor(call.arguments, i, types[i]));
    // Counts the elements of all tuples; `total` is at most kMaxElements before this.
    total *= items.size();
    if (total * call.arguments.size() > kMaxElements) {
      return too_many_elements();
    }
    factors.push_back(std::move(items));
  }
  const bool is_ordered =
      std::ranges::none_of(call.arguments, [](const Value& argument) { return argument.is(Kind::set); });
  Value::Items all = combinations(factors, total);
  // If nulls leave the type of a factor open, the values determine it.
  const Type element = all.empty() ? Type::tuple(std::move(types)) : all.front().type();
  if (!std::ranges::all_of(all, [&](const Value& tuple) { return tuple.type() == element; })) {
    return refuse("all elements must be of the same type");
  }
  return is_ordered ? Value::list(element, std::move(all)) : Value::set(element, std::move(all));
}

Parameter set_parameter(std::string_view name) {
  return {.name = name, .type = Type::set(Type::dynamic())};
}

}  // namespace

std::vector<Function> set_functions() {
  return {
      {"setintersection",
       {set_parameter("first_set")},
       combine<std::ranges::set_intersection>,
       set_parameter("other_sets")},
      {"setproduct", {}, setproduct, any_parameter("sets")},
      {"setsubtract", {set_parameter("a"), set_parameter("b")}, combine<std::ranges::set_difference>},
      {"setunion", {set_parameter("first_set")}, combine<std::ranges::set_union>, set_parameter("other_sets")},
  };
}

}  // namespace modlock::eval
