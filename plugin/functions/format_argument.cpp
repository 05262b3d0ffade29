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

// A finite number in decimal digits: 0.d1d2d3… * 10^point, without zeros at either end. Zero has no digits.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  std::int64_t point = 0;

  // Rounds to that many digits, halves to even.
  void round(std::int64_t count);
};

void trim_zeros(Decimal& decimal) {
  const std::size_t zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  decimal.digits.erase(0, zeros);
  decimal.point -= static_cast<std::int64_t>(zeros);
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  if (decimal.digits.empty()) {
    decimal.point = 0;
  }
}

Decimal read_decimal(std::string_view text) {
  Decimal decimal;
  decimal.is_negative = text.starts_with('-');
  text.remove_prefix(decimal.is_negative ? 1 : 0);
  const std::size_t whole = std::min(text.find('.'), text.size());
  decimal.point = static_cast<std::int64_t>(whole);
  decimal.digits = text.substr(0, whole);
  decimal.digits += text.substr(std::min(whole + 1, text.size()));
  trim_zeros(decimal);
  return decimal;
}

// Multiplies a whole number, digit by digit.
void multiply(std::string& digits, unsigned factor) {
  unsigned carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    carry += static_cast<unsigned>(*digit - '0') * factor;
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  if (carry > 0) {
    digits.insert(0, std::to_string(carry));
  }
}

std::string digits_or_zeros(const Decimal& decimal, std::int64_t from, std::int64_t to) {
  std::string text;
  for (std::int64_t at = from; at < to; ++at) {
    const bool is_inside = at >= 0 && at < static_cast<std::int64_t>(decimal.digits.size());
    text += is_inside ? decimal.digits[static_cast<std::size_t>(at)] : '0';
  }
  return text;
}

void Decimal::round(std::int64_t count) {
  if (count >= static_cast<std::int64_t>(digits.size())) {
    return;
  }
  if (count < 0) {
    digits.clear();
    point = 0;
    return;
  }
  const auto at = static_cast<std::size_t>(count);
  const bool is_half = digits[at] == '5' && at + 1 == digits.size();
  const bool is_odd = at > 0 && (digits[at - 1] - '0') % 2 == 1;
  const bool up = is_half ? is_odd : digits[at] >= '5';
  digits.resize(at);
  if (up) {
    while (!digits.empty() && digits.back() == '9') {
      digits.pop_back();
    }
    if (digits.empty()) {
      digits = "1";
      ++point;
    } else {
      ++digits.back();
    }
  }
  trim_zeros(*this);
}

// The digits that tostring() shows.
Decimal shortest_decimal(const Number& number) {
  return read_decimal(number.to_string());
}

// All digits of the binary number.
Decimal exact_decimal(const Number& number) {
  if (number.as_int64()) {
    return read_decimal(number.to_string());
  }
  // Scaled by a power of two until it is a whole number that is written with all its digits.
  static const Number two(2);
  static const Number half = *Number::parse("0.5");
  static const Number small = *Number::parse("1p500");
  static const Number large = *Number::parse("1p512");
  Number whole = number;
  int doubled = 0;
  int halved = 0;
  for (; !whole.is_integer(); ++doubled) {
    whole = whole * two;
  }
  if (whole < Number()) {
    whole = -whole;
  }
  for (; whole >= large || (whole >= small && whole.divided_by(two)->is_integer()); ++halved) {
    whole = *whole.divided_by(two);
  }
  // A number with less than full precision would be written with too few digits.
  Decimal decimal = read_decimal((whole < small ? (whole + half) - half : whole).to_string());
  decimal.is_negative = number < Number();
  decimal.digits.resize(static_cast<std::size_t>(decimal.point), '0');
  for (int i = 0; i < halved; ++i) {
    multiply(decimal.digits, 2);
  }
  for (int i = 0; i < doubled; ++i) {
    multiply(decimal.digits, 5);
  }
  decimal.point = static_cast<std::int64_t>(decimal.digits.size()) - doubled;
  trim_zeros(decimal);
  return decimal;
}

// Go's verbs without sign: "1.500000e+00", "1.500000", and %g, for which precision -1 means all digits. `exponent` is
// 'e' or 'E'.
std::string scientific_text(Decimal decimal, std::int64_t precision, char exponent) {
  if (precision < 0) {
    precision = std::max<std::int64_t>(static_cast<std::int64_t>(decimal.digits.size()) - 1, 0);
  }
  decimal.round(precision + 1);
  std::string text = digits_or_zeros(decimal, 0, 1);
  if (precision > 0) {
    text += '.' + digits_or_zeros(decimal, 1, precision + 1);
  }
  const std::int64_t power = decimal.digits.empty() ? 0 : decimal.point - 1;
  return text + fmt::format("{}{}{:02}", exponent, power < 0 ? '-' : '+', power < 0 ? -power : power);
}

std::string fixed_text(Decimal decimal, std::int64_t precision) {
  if (precision < 0) {
    precision = std::max<std::int64_t>(static_cast<std::int64_t>(decimal.digits.size()) - decimal.point, 0);
  }
  decimal.round(decimal.point + precision);
  std::string text = decimal.point > 0 ? digits_or_zeros(decimal, 0, decimal.point) : "0";
  if (precision > 0) {
    text += '.' + digits_or_zeros(decimal, decimal.point, decimal.point + precision);
  }
  return text;
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
                                      : fixed_text(decimal, std::max<std::int64_t>(size - decimal.point, 0));
}

// The digits of a whole number without sign in base 2, 8, 10 or 16.
std::string whole_text(const Decimal& whole, unsigned base) {
  std::string decimal = digits_or_zeros(whole, 0, whole.point);
  if (base == 10 || decimal.empty()) {
    return decimal.empty() ? "0" : decimal;
  }
  std::string text;
  while (!decimal.empty()) {
    unsigned rest = 0;
    for (char& digit : decimal) {
      rest = rest * 10 + static_cast<unsigned>(digit - '0');
      digit = static_cast<char>('0' + rest / base);
      rest %= base;
    }
    text += "0123456789abcdef"[rest];
    decimal.erase(0, std::min(decimal.find_first_not_of('0'), decimal.size()));
  }
  std::reverse(text.begin(), text.end());
  return text;
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
    std::transform(digits.begin(), digits.end(), digits.begin(), ascii::to_upper);
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
