#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"

namespace modlock::eval {
namespace {

FunctionResult number_of(double value) {
  if (!std::isfinite(value)) {
    return refuse("the result is not a finite number");
  }
  return Value::number(Number::from_double(value));
}

FunctionResult abs(const Call& call) {
  const Number& number = call.arguments[0].as_number();
  return Value::number(number < Number() ? -number : number);
}

FunctionResult ceil(const Call& call) {
  return Value::number(call.arguments[0].as_number().ceil());
}

FunctionResult floor(const Call& call) {
  return Value::number(call.arguments[0].as_number().floor());
}

FunctionResult log(const Call& call) {
  return number_of(std::log(call.arguments[0].as_number().as_double()) /
                   std::log(call.arguments[1].as_number().as_double()));
}

FunctionResult pow(const Call& call) {
  return number_of(std::pow(call.arguments[0].as_number().as_double(), call.arguments[1].as_number().as_double()));
}

bool is_smaller(const Value& left, const Value& right) {
  return left.as_number() < right.as_number();
}

template <const auto& find>
FunctionResult extreme(const Call& call) {
  if (call.arguments.empty()) {
    return refuse("must pass at least one number");
  }
  return *find(call.arguments, is_smaller, {});
}

FunctionResult signum(const Call& call) {
  MODLOCK_TRY(const auto number, whole_number(call.arguments[0]));
  return Value::number(std::int64_t{number > 0} - std::int64_t{number < 0});
}

// The value of a digit, at least 62 if it is invalid. Up to base 36, upper case and lower case are the same.
std::int64_t digit_value(char digit, std::int64_t base) {
  if (ascii::is_digit(digit)) {
    return digit - '0';
  }
  if (ascii::is_lower(digit)) {
    return digit - 'a' + 10;
  }
  if (ascii::is_upper(digit)) {
    return digit - 'A' + (base <= 36 ? 10 : 36);
  }
  return 62;
}

std::optional<Number> parse_whole(std::string_view text, std::int64_t base) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.empty()) {
    return std::nullopt;
  }
  Number value;
  for (const char digit : text) {
    const std::int64_t worth = digit_value(digit, base);
    if (worth >= base) {
      return std::nullopt;
    }
    value = value * Number(base) + Number(worth);
  }
  return is_negative ? -value : value;
}

FunctionResult parseint(const Call& call) {
  const Value& text = call.arguments[0];
  if (!text.is(Type::Kind::string)) {
    return refuse_argument(0, fmt::format("first argument must be a string, not {}", text.type().friendly_name()));
  }
  const auto base = whole_number(call.arguments[1]);
  if (!base) {
    return refuse_argument(1, base.error().message);
  }
  if (*base < 2 || *base > 62) {
    return refuse_argument(1, "base must be a whole number between 2 and 62 inclusive");
  }
  const auto number = parse_whole(text.as_string(), *base);
  if (!number) {
    return refuse_argument(0, fmt::format("cannot parse {} as a base {} integer", shown(call, text.as_string()),
                                          call.may_show_arguments ? std::to_string(*base) : "(sensitive value)"));
  }
  if (!number->is_finite()) {
    return exceeds_limit("the number is too large");
  }
  return Value::number(*number);
}

}  // namespace

std::vector<Function> numeric_functions() {
  return {
      {"abs", {number_parameter("num")}, abs},
      {"ceil", {number_parameter("num")}, ceil},
      {"floor", {number_parameter("num")}, floor},
      {"log", {number_parameter("num"), number_parameter("base")}, log},
      {"max", {}, extreme<std::ranges::max_element>, number_parameter("numbers")},
      {"min", {}, extreme<std::ranges::min_element>, number_parameter("numbers")},
      {"parseint", {any_parameter("number"), number_parameter("base")}, parseint},
      {"pow", {number_parameter("num"), number_parameter("power")}, pow},
      {"signum", {number_parameter("num")}, signum},
  };
}

}  // namespace modlock::eval
