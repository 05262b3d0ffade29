#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backends/base/collections.h"
#include "plugin/functions/function_tables.h"
#include "plugin/value/convert.h"
#include "plugin/value/value.h"

// Functions that check collections, select from them, and create maps.
namespace modlock::eval {
namespace {

using Kind = Type::Kind;

bool is_true(const Value& item) {
  return !item.is_null() && item.as_bool();
}

FunctionResult alltrue(const Call& call) {
  return Value::boolean(std::ranges::all_of(call.arguments[0].items(), is_true));
}

FunctionResult anytrue(const Call& call) {
  return Value::boolean(std::ranges::any_of(call.arguments[0].items(), is_true));
}

FunctionResult length(const Call& call) {
  const Value& value = call.arguments[0];
  if (value.is(Kind::string)) {
    return Value::number(count_clusters(value.as_string()));
  }
  if (value.type().is_primitive()) {
    return refuse("argument must be a string, a collection type, or a structural type");
  }
  return Value::number(static_cast<std::int64_t>(value.size()));
}

FunctionResult contains(const Call& call) {
  const Value& list = call.arguments[0];
  if (!is_sequence(list.type())) {
    return refuse("argument must be list, tuple, or set");
  }
  return Value::boolean(
      std::ranges::any_of(list.items(), [&](const Value& item) { return equal_values(call.arguments[1], item); }));
}

FunctionResult index(const Call& call) {
  const Value& list = call.arguments[0];
  if (!list.is(Kind::list) && !list.is(Kind::tuple)) {
    return refuse("argument must be a list or tuple");
  }
  const Value::Items& items = list.items();
  if (items.empty()) {
    return refuse("cannot search an empty list");
  }
  const auto found =
      std::ranges::find_if(items, [&](const Value& item) { return equal_values(item, call.arguments[1]); });
  if (found == items.end()) {
    return refuse("item not found");
  }
  return Value::number(static_cast<std::int64_t>(found - items.begin()));
}

FunctionResult element(const Call& call) {
  const Value& list = call.arguments[0];
  if (!list.is(Kind::list) && !list.is(Kind::tuple)) {
    return refuse(fmt::format("cannot read elements from {}", list.type().friendly_name()));
  }
  MODLOCK_TRY(const auto wanted, whole_number(call.arguments[1], "invalid index: "));
  if (list.size() == 0) {
    return refuse("cannot use element function with an empty list");
  }
  const auto size = static_cast<std::int64_t>(list.size());
  const std::int64_t at = wanted % size;
  return list.items()[static_cast<std::size_t>(at < 0 ? at + size : at)];
}

FunctionResult lookup(const Call& call) {
  if (call.arguments.size() > 3) {
    return refuse(fmt::format("lookup() takes two or three arguments, got {}", call.arguments.size()));
  }
  const Value& map = call.arguments[0];
  if (!map.is(Kind::object) && !map.is(Kind::map)) {
    return refuse_argument(0, "lookup() requires a map as the first argument");
  }
  tl::expected<Value, ConversionError> otherwise = tl::unexpected(ConversionError{});
  if (call.arguments.size() == 3) {
    otherwise = map.is(Kind::map) ? convert(call.arguments[2], map.type().element()) : call.arguments[2];
    if (!otherwise) {
      return refuse_argument(2, "the default value must have the same type as the map elements");
    }
  }
  const std::string& key = call.arguments[1].as_string();
  if (const auto found = map.members().find(key); found != map.members().end()) {
    return found->second;
  }
  if (otherwise) {
    return *otherwise;
  }
  if (map.is(Kind::object)) {
    return refuse_argument(0, fmt::format("the given object has no attribute {}", shown(call, key)));
  }
  return refuse(fmt::format("lookup failed to find key {}", shown(call, key)));
}

FunctionResult one(const Call& call) {
  const Value& list = call.arguments[0];
  if (!is_sequence(list.type()) || list.size() > 1) {
    return refuse_argument(0, "must be a list, set, or tuple value with either zero or one elements");
  }
  if (list.size() == 1) {
    return list.items().front();
  }
  return Value::null(list.is(Kind::tuple) ? Type::dynamic() : list.type().element());
}

FunctionResult sum(const Call& call) {
  const Value& list = call.arguments[0];
  if (list.type().is_primitive()) {
    return refuse_argument(0, "cannot sum noniterable");
  }
  if (list.size() == 0) {
    return refuse_argument(0, "cannot sum an empty list");
  }
  if (!is_sequence(list.type())) {
    return refuse_argument(
        0, fmt::format("argument must be list, set, or tuple. Received {}", list.type().friendly_name()));
  }
  Number total;
  for (const Value& item : list.items()) {
    const auto number = convert(item, Type::number());
    if (!number || number->is_null()) {
      return refuse_argument(0, "argument must be list, set, or tuple of number values");
    }
    total = total + number->as_number();
  }
  if (!total.is_finite()) {
    return exceeds_limit("the sum is too large");
  }
  return Value::number(total);
}

FunctionResult keys(const Call& call) {
  const Value& map = call.arguments[0];
  if (!map.is(Kind::map) && !map.is(Kind::object)) {
    return refuse_argument(0, "must have map or object type");
  }
  Value::Items names = mapped(keys_of(map.members()), Value::string);
  return map.is(Kind::map) ? Value::list(Type::string(), std::move(names)) : Value::tuple(std::move(names));
}

FunctionResult values(const Call& call) {
  const Value& map = call.arguments[0];
  if (!map.is(Kind::map) && !map.is(Kind::object)) {
    return refuse("values() requires a map as the first argument");
  }
  Value::Items items = values_of(map.members());
  return map.is(Kind::map) ? Value::list(map.type().element(), std::move(items)) : Value::tuple(std::move(items));
}

std::optional<Type> common_type(std::span<const Value> values) {
  return unify_unsafe(mapped(values, &Value::type));
}

FunctionResult coalesce(const Call& call) {
  const auto type = common_type(call.arguments);
  if (!type) {
    return refuse("all arguments must have the same type");
  }
  for (const Value& argument : call.arguments) {
    const auto value = convert(argument, *type);
    if (!value) {
      return refuse("all arguments must have the same type");
    }
    if (!value->is_null() && !(type->is(Kind::string) && value->as_string().empty())) {
      return *value;
    }
  }
  return refuse("no non-null, non-empty-string arguments");
}

FunctionResult coalescelist(const Call& call) {
  if (call.arguments.empty()) {
    return refuse("at least one argument is required");
  }
  for (const Value& argument : call.arguments) {
    if (!argument.is(Kind::list) && !argument.is(Kind::tuple)) {
      return refuse("coalescelist arguments must be lists or tuples");
    }
  }
  for (const Value& argument : call.arguments) {
    if (!argument.is_null() && argument.size() > 0) {
      return argument;
    }
  }
  return refuse("no non-null arguments");
}

FunctionResult merge(const Call& call) {
  if (call.arguments.empty()) {
    return Value::object({});
  }
  const Type& first = call.arguments[0].type();
  bool all_alike = true;
  Value::Members members;
  for (const Value& argument : call.arguments) {
    const Type& type = argument.type();
    if (!type.is(Kind::map) && !type.is(Kind::object) && !type.is(Kind::dynamic)) {
      return refuse(fmt::format("arguments must be maps or objects, got {}", go_quoted(type.friendly_name())));
    }
    all_alike = all_alike && type == first;
    if (argument.is_null()) {
      continue;
    }
    for (const auto& [name, member] : argument.members()) {
      members.insert_or_assign(name, member);
    }
    if (members.size() > kMaxElements) {
      return too_many_elements();
    }
  }
  if (all_alike && first.is(Kind::map)) {
    return Value::map(first.element(), std::move(members));
  }
  return Value::object(std::move(members));
}

FunctionResult transpose(const Call& call) {
  std::map<std::string, std::vector<std::string>> turned;
  std::size_t count = 0;
  for (const auto& [key, list] : call.arguments[0].members()) {
    if (list.is_null()) {
      return refuse_argument(0, fmt::format("cannot use null list for [{}]", shown(call, key)));
    }
    for (const Value& item : list.items()) {
      if (item.is_null()) {
        const auto at = &item - list.items().data();
        return refuse_argument(0, fmt::format("cannot use null string for [{}][{}]", shown(call, key), at));
      }
      if (++count > kMaxElements) {
        return too_many_elements();
      }
      turned[item.as_string()].push_back(key);
    }
  }
  Value::Members members;
  for (const auto& [name, keys] : turned) {
    members.emplace(name, Value::list(Type::string(), mapped(keys, Value::string)));
  }
  return Value::map(Type::list(Type::string()), std::move(members));
}

FunctionResult zipmap(const Call& call) {
  const Value& values = call.arguments[1];
  if (!values.is(Kind::list) && !values.is(Kind::tuple)) {
    return refuse("values argument must be a list or tuple value");
  }
  const Value::Items& keys = call.arguments[0].items();
  if (keys.size() != values.size()) {
    return refuse(fmt::format("number of keys ({}) does not match number of values ({})", keys.size(), values.size()));
  }
  Value::Members members;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].is_null()) {
      return refuse(fmt::format("keys list has null value at index {}", i));
    }
    members.insert_or_assign(keys[i].as_string(), values.items()[i]);
  }
  return values.is(Kind::list) ? Value::map(values.type().element(), std::move(members))
                               : Value::object(std::move(members));
}

}  // namespace

std::vector<Function> lookup_functions() {
  return {
      {"alltrue", {list_parameter("list", Type::boolean())}, alltrue},
      {"anytrue", {list_parameter("list", Type::boolean())}, anytrue},
      {"coalesce", {}, coalesce, nullable_parameter("vals")},
      {"coalescelist", {}, coalescelist, nullable_parameter("vals")},
      {"contains", {any_parameter("list"), nullable_parameter("value")}, contains},
      {"element", {any_parameter("list"), number_parameter("index")}, element},
      {"index", {any_parameter("list"), any_parameter("value")}, index},
      {"keys", {any_parameter("inputMap")}, keys},
      {"length", {any_parameter("value")}, length},
      {"lookup", {any_parameter("inputMap"), string_parameter("key")}, lookup, nullable_parameter("default")},
      {"merge", {}, merge, nullable_parameter("maps")},
      {"one", {any_parameter("list")}, one},
      {"sum", {any_parameter("list")}, sum},
      {"transpose", {{.name = "values", .type = Type::map(Type::list(Type::string()))}}, transpose},
      {"values", {any_parameter("mapping")}, values},
      {"zipmap", {list_parameter("keys", Type::string()), any_parameter("values")}, zipmap},
  };
}

}  // namespace modlock::eval
