#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plugin/functions/function_tables.h"
#include "plugin/functions/go_quote.h"
#include "plugin/value/limits.h"

// Functions that make maps and objects.
namespace modlock::eval {
namespace {

using Kind = Type::Kind;

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
  for (auto& [name, keys] : turned) {
    Value::Items items;
    for (std::string& key : keys) {
      items.push_back(Value::string(std::move(key)));
    }
    members.emplace(name, Value::list(Type::string(), std::move(items)));
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

std::span<const Function> map_functions() {
  static const std::vector<Function> functions = {
      {.name = "merge", .parameters = {}, .variadic = nullable_parameter("maps"), .call = merge},
      {.name = "transpose",
       .parameters = {{.name = "values", .type = Type::map(Type::list(Type::string()))}},
       .call = transpose},
      {.name = "zipmap",
       .parameters = {list_parameter("keys", Type::string()), any_parameter("values")},
       .call = zipmap},
  };
  return functions;
}

}  // namespace modlock::eval
