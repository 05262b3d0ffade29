#include "plugin/value/binary_float.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace modlock::eval {
namespace {

// 0.d1d2d3… * 10^point, without trailing zeros.
struct Decimal {
  std::string digits;
  std::int64_t point = 0;

  Decimal(const BigInteger& magnitude, std::int64_t exponent) {
    // 2^-n is 5^n / 10^n.
    const bool scaled = exponent < 0;
    const auto shift = static_cast<unsigned>(scaled ? -exponent : exponent);
    digits = BigInteger(scaled ? magnitude * pow(BigInteger(5), shift) : magnitude << shift).str();
    point = static_cast<std::int64_t>(digits.size()) + std::min<std::int64_t>(exponent, 0);
    trim();
  }

  char at(std::size_t index) const { return index < digits.size() ? digits[index] : '0'; }

  void trim() { digits.erase(digits.find_last_not_of('0') + 1); }

  void round_down(std::size_t size) {
    digits.resize(size);
    trim();
  }

  void round_up(std::size_t size) {
    while (size > 0 && digits[size - 1] == '9') --size;
    if (size == 0) {
      digits = "1";
      ++point;
      return;
    }
    ++digits[size - 1];
    digits.resize(size);
  }

  void round_nearest(std::size_t size) {
    const bool halfway = digits[size] == '5' && size + 1 == digits.size();
    const bool up = halfway ? size > 0 && (digits[size - 1] - '0') % 2 == 1 : digits[size] >= '5';
    up ? round_up(size) : round_down(size);
  }
};

// Cuts `decimal` to the shortest digits that still round to `value`. They are looked for digit by digit between the
// neighbours half a unit away, without regard to where those have their point: this is how Go chooses among texts of
// equal length.
void shorten(Decimal& decimal, const BinaryFloat& value) {
  const std::int64_t shift = value.precision + 1 - BinaryFloat::bits(value.magnitude);
  const BigInteger middle = value.magnitude << static_cast<unsigned>(shift);
  const Decimal lower(BigInteger(middle - 1), value.exponent - shift);
  const Decimal upper(BigInteger(middle + 1), value.exponent - shift);
  const bool inclusive = !bit_test(middle, 1);
  for (std::size_t i = 0; i < decimal.digits.size(); ++i) {
    const char digit = decimal.digits[i];
    const bool may_go_down = lower.at(i) != digit || (inclusive && i + 1 == lower.digits.size());
    const bool may_go_up =
        upper.at(i) != digit && (inclusive || digit + 1 < upper.at(i) || i + 1 < upper.digits.size());
    if (!may_go_down && !may_go_up) continue;
    if (i + 1 >= decimal.digits.size()) return;
    if (may_go_down && may_go_up) return decimal.round_nearest(i + 1);
    return may_go_down ? decimal.round_down(i + 1) : decimal.round_up(i + 1);
  }
}

}  // namespace

BinaryFloat rounded(bool negative, BigInteger magnitude, std::int64_t exponent, int precision, bool more) {
  BinaryFloat value{.negative = negative, .precision = precision};
  if (magnitude == 0) return value;
  const std::int64_t excess = BinaryFloat::bits(magnitude) - precision;
  if (excess > 0) {
    const auto half = static_cast<unsigned>(excess) - 1;
    const bool above_half = bit_test(magnitude, half) && (more || lsb(magnitude) < half);
    const bool is_half = bit_test(magnitude, half) && !above_half;
    magnitude >>= half + 1;
    exponent += excess;
    if (above_half || (is_half && bit_test(magnitude, 0))) ++magnitude;
  }
  const std::size_t zeros = lsb(magnitude);
  value.magnitude = magnitude >> zeros;
  value.exponent = exponent + static_cast<std::int64_t>(zeros);
  if (value.top() > BinaryFloat::kMaxExponent || value.top() < -BinaryFloat::kMaxExponent) {
    value.infinite = value.top() > 0;
    value.magnitude = 0;
    value.exponent = 0;
  }
  return value;
}

std::string shortest_text(const BinaryFloat& value) {
  if (value.infinite) return value.negative ? "-Inf" : "+Inf";
  std::string text = value.negative ? "-" : "";
  if (value.is_zero()) return text + "0";
  Decimal decimal(value.magnitude, value.exponent);
  shorten(decimal, value);
  if (decimal.point <= 0) {
    return text.append("0.").append(static_cast<std::size_t>(-decimal.point), '0').append(decimal.digits);
  }
  const auto point = static_cast<std::size_t>(decimal.point);
  if (decimal.digits.size() <= point) {
    return text.append(decimal.digits).append(point - decimal.digits.size(), '0');
  }
  return text.append(decimal.digits, 0, point).append(".").append(decimal.digits, point);
}

}  // namespace modlock::eval
