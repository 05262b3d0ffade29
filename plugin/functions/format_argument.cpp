#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/json_text.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"
#include "plugin/value/number.h"
#include "plugin/value/value.h"

namespace modlock::eval {
namespace {

// Go's verbs %e and %g without sign. `exponent` is 'e' or 'E'; precision -1 of %g means all digits.
std::string scientific_text(Decimal decimal, std::int64_t precision, char exponent) {
  decimal.round(precision + 1);
  std::string text = decimal.digits_between(0, 1);
  if (precision > 0) {
    text += '.' + decimal.digits_between(1, precision + 1);
  }
  const std::int64_t power = decimal.digits.empty() ? 0 : decimal.point - 1;
  return text + fmt::format("{}{}{:02}", exponent, power < 0 ? '-' : '+', power < 0 ? -power : power);
}

std::string general_text(Decimal decimal, std::int64_t precision, char exponent) {
  const bool is_shortest = precision < 0;
  if (!is_shortest) {
    decimal.round(precision == 0 ? 1 : precision);
  }
  const auto size = static_cast<std::int64_t>(decimal.digits.size());
  const std::int64_t limit =
      is_shortest ? 6 : (precision > size && size >= decimal.point ? size : (precision == 0 ? 1 : precision));
  const std::int64_t power = decimal.point - 1;
  return power < -4 || power >= limit ? scientific_text(decimal, std::max<std::int64_t>(size - 1, 0), exponent)
                                      : decimal.fixed_text();
}

using Kind = Type::Kind;

tl::unexpected<FunctionError> unsupported(const FormatVerb& verb, std::string_view why) {
  return refuse(fmt::format("unsupported value for {} at {}: {}", go_quoted(verb.raw), verb.offset, why));
}

// Pads to the width in grapheme clusters. Zeros are also added after the text, as in cty.
void append_padded(const FormatVerb& verb, std::string_view text, TextBuilder& out) {
  std::int64_t size = 0;
  for (std::size_t at = 0; verb.width > size && at < text.size(); ++size) {
    at = hcl::grapheme_end(text, at);
  }
  const auto missing = static_cast<std::size_t>(std::max<std::int64_t>(verb.width - size, 0));
  const char padding = verb.has('0') ? '0' : ' ';
  if (!verb.has('-')) {
    out.append(missing, padding);
  }
  out.append(text);
  if (verb.has('-')) {
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
  if (!verb.has('#') && !argument.is_null()) {
    if (argument.is(Kind::string)) {
      append_padded(verb, argument.as_string(), out);
      return {};
    }
    if (argument.is(Kind::number)) {
      const Decimal decimal = argument.as_number().shortest();
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
  // A precision of zero does not truncate, as in cty.
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
  return decimal.is_negative ? "-" : verb.has('+') ? "+" : verb.has(' ') ? " " : "";
}

// [blanks][sign and prefix][zeros][digits][blanks]
void append_number(const FormatVerb& verb, std::string_view front, std::size_t zeros, std::string_view digits,
                   bool pads_with_zeros, TextBuilder& out) {
  const std::size_t size = front.size() + zeros + digits.size();
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(verb.width, 0));
  const std::size_t missing = width > size ? width - size : 0;
  const bool zero_padded = pads_with_zeros && verb.has('0') && !verb.has('-');
  out.append(verb.has('-') || zero_padded ? 0 : missing, ' ');
  out.append(front);
  out.append(zeros + (zero_padded ? missing : 0), '0');
  out.append(digits);
  out.append(verb.has('-') ? missing : 0, ' ');
}

FormatResult append_integer(const FormatVerb& verb, const Number& number, TextBuilder& out) {
  if (!number.is_integer()) {
    return unsupported(verb, "an integer is required");
  }
  const Decimal decimal = number.exact();
  const unsigned base = verb.mode == 'b' ? 2 : verb.mode == 'o' ? 8 : verb.mode == 'd' ? 10 : 16;
  std::string digits = number.whole_text(base);
  if (verb.mode == 'X') {
    std::transform(digits.begin(), digits.end(), digits.begin(), ascii::to_upper);
  }
  if (verb.precision == 0 && decimal.digits.empty()) {
    return {};
  }
  std::string front(sign_of(verb, decimal));
  if (verb.has('#') && base != 10) {
    front += verb.mode == 'o' ? "0" : std::string{'0', verb.mode};
  }
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(verb.precision, 0));
  const std::size_t zeros = wanted > digits.size() ? wanted - digits.size() : 0;
  append_number(verb, front, zeros, digits, verb.precision < 0, out);
  return {};
}

FormatResult append_float(const FormatVerb& verb, const Number& number, TextBuilder& out) {
  Decimal decimal = (verb.mode == 'g' || verb.mode == 'G') && verb.precision < 0 ? number.shortest() : number.exact();
  const std::string sign(sign_of(verb, decimal));
  const std::int64_t precision = verb.precision < 0 ? 6 : verb.precision;
  std::string digits;
  switch (verb.mode) {
    case 'f':
      digits = decimal.fixed_text(precision);
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
