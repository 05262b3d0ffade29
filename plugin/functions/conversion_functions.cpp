#include <fmt/format.h>

#include <vector>

#include "plugin/functions/function_tables.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

FunctionResult convert_argument(const Call& call, const Type& type, std::string_view wanted) {
  const Value& value = call.arguments[0];
  if (auto converted = convert(value, type)) {
    return *std::move(converted);
  }
  if (value.is(Kind::string) && !value.is_null() && type.is(Kind::boolean)) {
    return refuse_argument(0, fmt::format("cannot convert {} to bool; only the strings \"true\" or \"false\" are "
                                          "allowed",
                                          shown(call, value.as_string())));
  }
  if (value.is(Kind::string) && !value.is_null() && type.is(Kind::number)) {
    return refuse_argument(0, fmt::format("cannot convert {} to number; given string must be a decimal "
                                          "representation of a number",
                                          shown(call, value.as_string())));
  }
  return refuse_argument(0, fmt::format("cannot convert {} to {}", value.type().friendly_name(), wanted));
}

FunctionResult tobool(const Call& call) {
  return convert_argument(call, Type::boolean(), "bool");
}

FunctionResult tolist(const Call& call) {
  return convert_argument(call, Type::list(Type::dynamic()), "list of any single type");
}

FunctionResult tomap(const Call& call) {
  return convert_argument(call, Type::map(Type::dynamic()), "map of any single type");
}

FunctionResult tonumber(const Call& call) {
  return convert_argument(call, Type::number(), "number");
}

FunctionResult toset(const Call& call) {
  return convert_argument(call, Type::set(Type::dynamic()), "set of any single type");
}

FunctionResult tostring(const Call& call) {
  return convert_argument(call, Type::string(), "string");
}

}  // namespace

std::span<const Function> conversion_functions() {
  static const std::vector<Function> functions = {
      {.name = "tobool", .parameters = {nullable_parameter("v")}, .call = tobool},
      {.name = "tolist", .parameters = {nullable_parameter("v")}, .call = tolist},
      {.name = "tomap", .parameters = {nullable_parameter("v")}, .call = tomap},
      {.name = "tonumber", .parameters = {nullable_parameter("v")}, .call = tonumber},
      {.name = "toset", .parameters = {nullable_parameter("v")}, .call = toset},
      {.name = "tostring", .parameters = {nullable_parameter("v")}, .call = tostring},
  };
  return functions;
}

}  // namespace modlock::eval
