#include <fmt/format.h>

#include <algorithm>

#include "plugin/functions/decimal_text.h"
#include "plugin/functions/format_text.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/go_quote.h"
#include "plugin/functions/json_text.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"
#include "plugin/value/limits.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

tl::unexpected<FunctionError> unsupported(const FormatVerb& verb, std::string_view why) {
  return refuse(fmt::format("unsupported value for {} at {}: {}", go_quoted(verb.raw), verb.offset, why));
}

// Pads to the width in grapheme clusters. Zeros stand behind as well, as in cty.
void append_padded(const FormatVerb& verb, std::string_view text, TextBuilder& out) {
  std::int64_t size = 0;
  for (std::size_t at = 0; verb.width > size && at < text.size(); ++size) {
    at = hcl::grapheme_end(text, at);
  }
  const auto missing = static_cast<std::size_t>(std::max<std::int64_t>(verb.width - size, 0));
  const char padding = verb.zero ? '0' : ' ';
  if (!verb.minus) {
    out.append(missing, padding);
  }
  out.append(text);
  if (verb.minus) {
    out.append(missing, padding);
  }
}

FormatResult append_json_padded(const FormatVerb& verb, const Value& value, TextBuilder& out) {
  TextBuilder json;
  append_json(json, value);
  if (json.is_full()) {
    return too_long_text();
  }
  append_padded(verb, json.text(), out);
  return {};
}

FormatResult append_as_is(const FormatVerb& verb, const Value& argument, TextBuilder& out) {
  if (!verb.sharp && !argument.is_null()) {
    if (argument.is(Kind::string)) {
      append_padded(verb, argument.as_string(), out);
      return {};
    }
    if (argument.is(Kind::number)) {
      const Decimal decimal = shortest_decimal(argument.as_number());
      append_padded(verb, (decimal.is_negative ? "-" : "") + general_text(decimal, -1, 'e'), out);
      return {};
    }
  }
  return append_json_padded(verb, argument, out);
}

FormatResult append_string(const FormatVerb& verb, const Value& argument, TextBuilder& out) {
  const auto converted = convert(argument, Type::string());
  if (!converted) {
    return unsupported(verb, converted.error());
  }
  std::string_view text = converted->as_string();
  // A precision of zero does not cut, as in cty.
  if (verb.precision > 0) {
    std::size_t end = 0;
    for (std::int64_t i = 0; i < verb.precision && end < text.size(); ++i) {
      end = hcl::grapheme_end(text, end);
    }
    text = text.substr(0, end);
  }
  if (verb.mode == 'q') {
    return append_json_padded(verb, Value::string(std::string(text)), out);
  }
  append_padded(verb, text, out);
  return {};
}

std::string_view sign_of(const FormatVerb& verb, const Decimal& decimal) {
  return decimal.is_negative ? "-" : verb.plus ? "+" : verb.space ? " " : "";
}

// [blanks][sign and prefix][zeros][digits][blanks]
void append_number(const FormatVerb& verb, std::string_view front, std::size_t zeros, std::string_view digits,
                   bool pads_with_zeros, TextBuilder& out) {
  const std::size_t size = front.size() + zeros + digits.size();
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(verb.width, 0));
  const std::size_t missing = width > size ? width - size : 0;
  const bool zero_padded = pads_with_zeros && verb.zero && !verb.minus;
  out.append(verb.minus || zero_padded ? 0 : missing, ' ');
  out.append(front);
  out.append(zeros + (zero_padded ? missing : 0), '0');
  out.append(digits);
  out.append(verb.minus ? missing : 0, ' ');
}

FormatResult append_integer(const FormatVerb& verb, const Number& number, TextBuilder& out) {
  if (!number.is_integer()) {
    return unsupported(verb, "an integer is required");
  }
  const Decimal decimal = exact_decimal(number);
  const unsigned base = verb.mode == 'b' ? 2 : verb.mode == 'o' ? 8 : verb.mode == 'd' ? 10 : 16;
  std::string digits = whole_text(decimal, base);
  if (verb.mode == 'X') {
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char digit) { return digit >= 'a' ? static_cast<char>(digit - 'a' + 'A') : digit; });
  }
  if (verb.precision == 0 && decimal.digits.empty()) {
    return {};
  }
  std::string front(sign_of(verb, decimal));
  if (verb.sharp && base != 10) {
    front += verb.mode == 'o' ? "0" : std::string{'0', verb.mode};
  }
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(verb.precision, 0));
  const std::size_t zeros = wanted > digits.size() ? wanted - digits.size() : 0;
  append_number(verb, front, zeros, digits, verb.precision < 0, out);
  return {};
}

FormatResult append_float(const FormatVerb& verb, const Number& number, TextBuilder& out) {
  Decimal decimal =
      (verb.mode == 'g' || verb.mode == 'G') && verb.precision < 0 ? shortest_decimal(number) : exact_decimal(number);
  const std::string sign(sign_of(verb, decimal));
  const std::int64_t precision = verb.precision < 0 ? 6 : verb.precision;
  std::string digits;
  switch (verb.mode) {
    case 'f':
      digits = fixed_text(std::move(decimal), precision);
      break;
    case 'e':
    case 'E':
      digits = scientific_text(std::move(decimal), precision, verb.mode);
      break;
    default:
      digits = general_text(std::move(decimal), verb.precision, verb.mode == 'g' ? 'e' : 'E');
      break;
  }
  append_number(verb, sign, 0, digits, true, out);
  return {};
}

}  // namespace

FormatResult format_argument(const FormatVerb& verb, const Value& argument, TextBuilder& out) {
  if (verb.width > std::int64_t{kMaxTextBytes} || verb.precision > std::int64_t{kMaxTextBytes}) {
    return too_long_text();
  }
  if (verb.mode != 'v' && argument.is_null()) {
    return unsupported(verb, "null value cannot be formatted");
  }
  constexpr std::string_view kIntegers = "bdoxX";
  constexpr std::string_view kFloats = "eEfgG";
  if (verb.mode == 'v') {
    return append_as_is(verb, argument, out);
  }
  if (verb.mode == 's' || verb.mode == 'q') {
    return append_string(verb, argument, out);
  }
  const bool is_bool = verb.mode == 't';
  const bool is_integer = kIntegers.find(verb.mode) != std::string_view::npos;
  if (!is_bool && !is_integer && kFloats.find(verb.mode) == std::string_view::npos) {
    return refuse(
        fmt::format("unsupported format verb '{}' in {} at offset {}", verb.mode, go_quoted(verb.raw), verb.offset));
  }
  const auto value = convert(argument, is_bool ? Type::boolean() : Type::number());
  if (!value) {
    return unsupported(verb, value.error());
  }
  if (is_bool) {
    out.append(value->as_bool() ? "true" : "false");
    return {};
  }
  return is_integer ? append_integer(verb, value->as_number(), out) : append_float(verb, value->as_number(), out);
}

}  // namespace modlock::eval
