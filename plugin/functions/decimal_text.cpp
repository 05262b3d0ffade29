#include "plugin/functions/decimal_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock::eval {
namespace {

// Takes zeros away at both ends.
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

}  // namespace

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

Decimal shortest_decimal(const Number& number) {
  return read_decimal(number.to_string());
}

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
  // A number of less than full precision would be written with fewer digits than it has.
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

}  // namespace modlock::eval
