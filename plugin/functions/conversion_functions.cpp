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
  if (value.is(Kind::string) && !value.is_null() && (type.is(Kind::boolean) || type.is(Kind::number))) {
    return refuse_argument(
        0, fmt::format("cannot convert {} to {}; {}", shown(call, value.as_string()), wanted,
                       type.is(Kind::number) ? "given string must be a decimal representation of a number"
                                             : "only the strings \"true\" or \"false\" are allowed"));
  }
  return refuse_argument(0, fmt::format("cannot convert {} to {}", value.type().friendly_name(), wanted));
}

FunctionResult assume(const Call& call, bool holds) {
  return holds ? FunctionResult(call.arguments[0]) : refuse_argument(0, "assumption was not upheld");
}

FunctionResult assumeequal(const Call& call) {
  const Value& assumed = call.arguments[1];
  const auto actual = convert(call.arguments[0], assumed.type());
  if (!actual || !equal_values(*actual, assumed)) {
    return refuse_argument(0, "the actual value does not match the assumed value");
  }
  return assumed;
}

FunctionResult assumenotnull(const Call& call) {
  return call.arguments[0];
}

FunctionResult assumestringprefix(const Call& call) {
  return assume(call, call.arguments[0].as_string().starts_with(call.arguments[1].as_string()));
}

Number size_of(const Call& call) {
  return Number(static_cast<std::int64_t>(call.arguments[0].size()));
}

FunctionResult assume_length(const Call& call) {
  const Number size = size_of(call);
  return assume(call, size >= call.arguments[1].as_number() && size <= call.arguments[2].as_number());
}

FunctionResult assume_length_min(const Call& call) {
  return assume(call, size_of(call) >= call.arguments[1].as_number());
}

FunctionResult assume_length_max(const Call& call) {
  return assume(call, size_of(call) <= call.arguments[1].as_number());
}

}  // namespace

std::vector<Function> conversion_functions() {
  const Parameter value = nullable_parameter("v");
  const Parameter list = list_parameter("value");
  const Parameter map = {.name = "value", .type = Type::map(Type::dynamic())};
  const Parameter set = {.name = "value", .type = Type::set(Type::dynamic())};
  const Parameter least = number_parameter("min_length");
  const Parameter most = number_parameter("max_length");
  return {
      {"assumeequal", {nullable_parameter("actual_value"), nullable_parameter("expected_value")}, assumeequal},
      {"assumelistlength", {list, least, most}, assume_length},
      {"assumelistlengthmax", {list, most}, assume_length_max},
      {"assumelistlengthmin", {list, least}, assume_length_min},
      {"assumemaplength", {map, least, most}, assume_length},
      {"assumemaplengthmax", {map, most}, assume_length_max},
      {"assumemaplengthmin", {map, least}, assume_length_min},
      {"assumenotnull", {any_parameter("value")}, assumenotnull},
      {"assumesetlength", {set, least, most}, assume_length},
      {"assumesetlengthmax", {set, most}, assume_length_max},
      {"assumesetlengthmin", {set, least}, assume_length_min},
      {"assumestringprefix", {string_parameter("value"), string_parameter("prefix")}, assumestringprefix},
      {"tobool", {value}, [](const Call& call) { return convert_argument(call, Type::boolean(), "bool"); }},
      {"tolist",
       {value},
       [](const Call& call) { return convert_argument(call, Type::list(Type::dynamic()), "list of any single type"); }},
      {"tomap",
       {value},
       [](const Call& call) { return convert_argument(call, Type::map(Type::dynamic()), "map of any single type"); }},
      {"tonumber", {value}, [](const Call& call) { return convert_argument(call, Type::number(), "number"); }},
      {"toset",
       {value},
       [](const Call& call) { return convert_argument(call, Type::set(Type::dynamic()), "set of any single type"); }},
      {"tostring", {value}, [](const Call& call) { return convert_argument(call, Type::string(), "string"); }},
  };
}

}  // namespace modlock::eval
