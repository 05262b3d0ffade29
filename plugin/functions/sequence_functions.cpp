#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "backends/base/collections.h"
#include "plugin/functions/function_tables.h"
#include "plugin/value/convert.h"
#include "plugin/value/value.h"

// Functions from lists to lists.
namespace modlock::eval {
namespace {

using Kind = Type::Kind;

struct Before {
  bool operator()(const Value& left, const Value& right) const { return Value::compare(left, right) < 0; }
};
using SortedValues = std::set<Value, Before>;

FunctionResult chunklist(const Call& call) {
  const Value& list = call.arguments[0];
  MODLOCK_TRY(const auto size, whole_number(call.arguments[1], "invalid size: "));
  if (size < 0) {
    return refuse("the size argument must be positive");
  }
  const Value::Items& items = list.items();
  const std::size_t step = size == 0 ? std::max<std::size_t>(items.size(), 1) : static_cast<std::size_t>(size);
  Value::Items chunks;
  for (auto from = items.begin(); from != items.end();) {
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(step, static_cast<std::size_t>(items.end() - from)));
    chunks.push_back(Value::list(list.type().element(), Value::Items(from, to)));
    from = to;
  }
  return Value::list(list.type(), std::move(chunks));
}

FunctionResult compact(const Call& call) {
  Value::Items kept = call.arguments[0].items();
  std::erase_if(kept, [](const Value& item) { return item.is_null() || item.as_string().empty(); });
  return Value::list(Type::string(), std::move(kept));
}

// The type of list that all arguments convert to; nullopt if concat() makes a tuple of them.
std::optional<Type> common_list_type(std::span<const Value> arguments) {
  const bool are_lists = std::ranges::all_of(arguments, [](const Value& one) { return one.is(Kind::list); });
  return are_lists ? unify_unsafe(mapped(arguments, &Value::type)) : std::nullopt;
}

FunctionResult concat(const Call& call) {
  if (call.arguments.empty()) {
    return refuse("at least one argument is required");
  }
  std::size_t size = 0;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Type& type = call.arguments[i].type();
    if (!type.is(Kind::list) && !type.is(Kind::tuple)) {
      return refuse_argument(i, fmt::format("all arguments must be lists or tuples; got {}", type.friendly_name()));
    }
    size += call.arguments[i].size();
  }
  if (size > kMaxElements) {
    return too_many_elements();
  }
  const auto type = common_list_type(call.arguments);
  Value::Items all;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto list = type ? convert(call.arguments[i], *type) : call.arguments[i];
    if (!list) {
      return refuse_argument(i, list.error());
    }
    all.insert(all.end(), list->items().begin(), list->items().end());
  }
  return type ? Value::list(type->element(), std::move(all)) : Value::tuple(std::move(all));
}

FunctionResult distinct(const Call& call) {
  const Value& list = call.arguments[0];
  SortedValues seen;
  Value::Items kept;
  for (const Value& item : list.items()) {
    if (seen.insert(item).second) {
      kept.push_back(item);
    }
  }
  return Value::list(list.type().element(), std::move(kept));
}

// Adds the items of `sequence` and of the sequences inside it. Shared parts count at each visit, so that the result
// stays within the limit. Returns false if it would exceed it.
bool flatten_into(const Value& sequence, Value::Items& all, std::size_t& visited) {
  for (const Value& item : sequence.items()) {
    if (++visited > kMaxElements) {
      return false;
    }
    if (item.is_null() || !is_sequence(item.type())) {
      all.push_back(item);
    } else if (!flatten_into(item, all, visited)) {
      return false;
    }
  }
  return true;
}

FunctionResult flatten(const Call& call) {
  if (!is_sequence(call.arguments[0].type())) {
    return refuse("can only flatten lists, sets and tuples");
  }
  Value::Items all;
  std::size_t visited = 0;
  if (!flatten_into(call.arguments[0], all, visited)) {
    return too_many_elements();
  }
  return Value::tuple(std::move(all));
}

FunctionResult matchkeys(const Call& call) {
  const Value& values = call.arguments[0];
  const auto type = unify_unsafe(std::vector<Type>{call.arguments[1].type(), call.arguments[2].type()});
  if (!type) {
    return refuse("keys and searchset must be of the same type");
  }
  if (values.size() != call.arguments[1].size()) {
    return refuse("length of keys and values should be equal");
  }
  const auto keys = convert(call.arguments[1], *type);
  const auto wanted = convert(call.arguments[2], *type);
  if (!keys || !wanted) {
    return refuse("keys and searchset must be of the same type");
  }
  const SortedValues searched(wanted->items().begin(), wanted->items().end());
  Value::Items matching;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (searched.contains(keys->items()[i])) {
      matching.push_back(values.items()[i]);
    }
  }
  return Value::list(values.type().element(), std::move(matching));
}

constexpr std::size_t kMaxRange = 1024;  // OpenTofu's own limit

FunctionResult range(const Call& call) {
  const std::span<const Value> arguments = call.arguments;
  if (arguments.empty() || arguments.size() > 3) {
    return refuse("must have one, two, or three arguments");
  }
  const Number from = arguments.size() == 1 ? Number() : arguments[0].as_number();
  const Number end = arguments[arguments.size() == 1 ? 0 : 1].as_number();
  const Number step = arguments.size() == 3 ? arguments[2].as_number() : Number(end < from ? -1 : 1);
  const bool down = step < Number();
  if (down && end > from) {
    return refuse_argument(1, "end must be less than start when step is negative");
  }
  if (!down && end < from) {
    return refuse_argument(1, "end must be greater than start when step is positive");
  }
  Value::Items items;
  for (Number number = from; down ? number > end : number < end; number = number + step) {
    if (items.size() == kMaxRange) {
      return refuse(
          fmt::format("more than {} values were generated; either decrease the difference between start and "
                      "end or use a smaller step",
                      kMaxRange));
    }
    items.push_back(Value::number(number));
  }
  return Value::list(Type::number(), std::move(items));
}

FunctionResult reverse(const Call& call) {
  const Value& list = call.arguments[0];
  if (!is_sequence(list.type())) {
    return refuse_argument(0,
                           fmt::format("can only reverse list or tuple values, not {}", list.type().friendly_name()));
  }
  Value::Items items(list.items().rbegin(), list.items().rend());
  return list.is(Kind::tuple) ? Value::tuple(std::move(items)) : Value::list(list.type().element(), std::move(items));
}

FunctionResult slice(const Call& call) {
  const Value& list = call.arguments[0];
  if (list.is(Kind::set)) {
    return refuse_argument(0,
                           "cannot slice a set, because its elements do not have indices; explicitly convert to a list "
                           "if the ordering of the result is not important");
  }
  if (!list.is(Kind::list) && !list.is(Kind::tuple)) {
    return refuse_argument(0, "must be a list or tuple value");
  }
  std::ptrdiff_t bounds[2] = {0, 0};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const char* const name = i == 0 ? "start" : "end";
    const auto bound = whole_number(call.arguments[i + 1], fmt::format("invalid {} index: ", name));
    if (!bound) {
      return refuse_argument(i + 1, bound.error().message);
    }
    if (*bound < 0) {
      return refuse_argument(i + 1, fmt::format("{} index must not be less than zero", name));
    }
    if (*bound > static_cast<std::int64_t>(list.size())) {
      return refuse_argument(i + 1, fmt::format("{} index must not be greater than the length of the list", name));
    }
    bounds[i] = *bound;
  }
  if (bounds[0] > bounds[1]) {
    return refuse_argument(1, "start index must not be greater than end index");
  }
  Value::Items items(list.items().begin() + bounds[0], list.items().begin() + bounds[1]);
  return list.is(Kind::tuple) ? Value::tuple(std::move(items)) : Value::list(list.type().element(), std::move(items));
}

FunctionResult sort(const Call& call) {
  Value::Items items = call.arguments[0].items();
  const auto null = std::ranges::find_if(items, &Value::is_null);
  if (null != items.end()) {
    return refuse(fmt::format("given list element {} is null; a null string cannot be sorted", null - items.begin()));
  }
  std::ranges::sort(items, {}, &Value::as_string);
  return Value::list(Type::string(), std::move(items));
}

// Both existed before OpenTofu, which keeps them only as errors.
FunctionResult removed_list(const Call&) {
  return refuse(
      "the \"list\" function was deprecated in Terraform v0.12 and is not available in OpenTofu; use tolist([ ... ]) "
      "syntax to write a literal list");
}

FunctionResult removed_map(const Call&) {
  return refuse(
      "the \"map\" function was deprecated in Terraform v0.12 and is not available in OpenTofu; use tomap({ ... }) "
      "syntax to write a literal map");
}

}  // namespace

std::vector<Function> sequence_functions() {
  return {
      {"chunklist", {list_parameter("list"), number_parameter("size")}, chunklist},
      {"compact", {list_parameter("list", Type::string())}, compact},
      {"concat", {}, concat, any_parameter("seqs")},
      {"distinct", {list_parameter("list")}, distinct},
      {"flatten", {any_parameter("list")}, flatten},
      {"list", {}, removed_list, nullable_parameter("vals")},
      {"map", {}, removed_map, nullable_parameter("vals")},
      {"matchkeys", {list_parameter("values"), list_parameter("keys"), list_parameter("searchset")}, matchkeys},
      {"range", {}, range, number_parameter("params")},
      {"reverse", {any_parameter("list")}, reverse},
      {"slice", {any_parameter("list"), number_parameter("start_index"), number_parameter("end_index")}, slice},
      {"sort", {list_parameter("list", Type::string())}, sort},
  };
}

}  // namespace modlock::eval
