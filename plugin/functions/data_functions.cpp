#include <vector>

#include "plugin/functions/csv_decode.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/json_decode.h"
#include "plugin/functions/json_text.h"
#include "plugin/functions/yaml_decode.h"

// Values from and to texts of other languages.
namespace modlock::eval {
namespace {

template <FunctionResult (*decode)(std::string_view)>
FunctionResult decode_text(const Call& call) {
  auto value = decode(call.arguments[0].as_string());
  if (!value) {
    return shown_error(call, std::move(value.error()), "the text is not what the function reads");
  }
  return value;
}

FunctionResult jsonencode(const Call& call) {
  TextBuilder json;
  append_json(json, call.arguments[0]);
  return std::move(json).finish();
}

}  // namespace

std::span<const Function> data_functions() {
  static const std::vector<Function> functions = {
      {.name = "csvdecode", .parameters = {string_parameter("str")}, .call = decode_text<decode_csv>},
      {.name = "jsondecode", .parameters = {string_parameter("str")}, .call = decode_text<decode_json>},
      {.name = "jsonencode", .parameters = {nullable_parameter("val")}, .call = jsonencode},
      {.name = "yamldecode", .parameters = {string_parameter("src")}, .call = decode_text<decode_yaml>},
  };
  return functions;
}

}  // namespace modlock::eval
