#include "plugin/value/number.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "backends/base/ascii.h"

namespace modlock::eval {

using BigInteger =
    boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

// magnitude * 2^exponent: a Number that does not fit 64 bits. The magnitude is odd or zero.
struct BinaryFloat {
  static constexpr int kPrecision = 512;  // bits
  static constexpr std::int64_t kMaxExponent = 4096;

  bool negative = false;
  bool infinite = false;
  BigInteger magnitude = 0;
  std::int64_t exponent = 0;
  int precision = kPrecision;

  bool is_zero() const { return !infinite && magnitude == 0; }
  // The exponent of the leading bit plus one: 2^(top-1) <= |value| < 2^top. Undefined for zero.
  std::int64_t top() const { return exponent + bits(magnitude); }

  static std::int64_t bits(const BigInteger& value) { return static_cast<std::int64_t>(msb(value)) + 1; }
};

// Returns the float nearest to magnitude * 2^exponent, the even one if two are equally near. `more`: the exact value is
// a little larger, by less than one unit of `magnitude`, which then has more bits than the precision.
BinaryFloat rounded(bool negative, BigInteger magnitude, std::int64_t exponent, int precision, bool more = false);

struct Number::Big : BinaryFloat {};

namespace {

// All digits of magnitude * 2^exponent.
Decimal exact_decimal(const BigInteger& magnitude, std::int64_t exponent) {
  // 2^-n is 5^n / 10^n.
  const bool scaled = exponent < 0;
  const auto shift = static_cast<unsigned>(scaled ? -exponent : exponent);
  Decimal decimal;
  decimal.digits = BigInteger(scaled ? magnitude * pow(BigInteger(5), shift) : magnitude << shift).str();
  decimal.point = static_cast<std::int64_t>(decimal.digits.size()) + std::min<std::int64_t>(exponent, 0);
  decimal.cut(decimal.digits.size(), false);
  return decimal;
}

// Cuts `decimal` to the shortest digits that still round to `value`. The search goes digit by digit between the
// neighbors half a unit away and ignores where their points are: Go chooses among texts of equal length this way.
void shorten(Decimal& decimal, const BinaryFloat& value) {
  const std::int64_t shift = value.precision + 1 - BinaryFloat::bits(value.magnitude);
  const BigInteger middle = value.magnitude << static_cast<unsigned>(shift);
  const Decimal lower = exact_decimal(BigInteger(middle - 1), value.exponent - shift);
  const Decimal upper = exact_decimal(BigInteger(middle + 1), value.exponent - shift);
  const auto at = [](const Decimal& of, std::size_t index) {
    return index < of.digits.size() ? of.digits[index] : '0';
  };
  const bool inclusive = !bit_test(middle, 1);
  for (std::size_t i = 0; i < decimal.digits.size(); ++i) {
    const char digit = decimal.digits[i];
    const char above = at(upper, i);
    const bool may_go_down = at(lower, i) != digit || (inclusive && i + 1 == lower.digits.size());
    const bool may_go_up = above != digit && (inclusive || digit + 1 < above || i + 1 < upper.digits.size());
    if (!may_go_down && !may_go_up) continue;
    if (i + 1 >= decimal.digits.size()) return;
    if (may_go_down && may_go_up) return decimal.round(static_cast<std::int64_t>(i + 1));
    return decimal.cut(i + 1, may_go_up);
  }
}

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

std::size_t digits_at(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), ascii::is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

// Removes a sign from the front. Returns true if it is a minus.
bool take_sign(std::string_view& text) {
  if (text.empty() || (text.front() != '-' && text.front() != '+')) return false;
  const bool minus = text.front() == '-';
  text.remove_prefix(1);
  return minus;
}

// The parts of a decimal text: digits * 10^ten * 2^two.
struct Scanned {
  bool negative = false;
  std::string digits;  // without leading zeros; empty: zero
  std::int64_t ten = 0;
  std::int64_t two = 0;
};

// The sign and the digits of an exponent, which are the whole `text`. Saturates far beyond the exponent of any number.
std::optional<std::int64_t> scan_exponent(std::string_view text) {
  constexpr std::int64_t kFar = 1'000'000'000'000;
  const bool negative = take_sign(text);
  if (text.empty() || digits_at(text) != text.size()) return std::nullopt;
  std::int64_t exponent = 0;
  for (const char digit : text) exponent = std::min(kFar, exponent * 10 + (digit - '0'));
  return negative ? -exponent : exponent;
}

std::optional<Scanned> scan(std::string_view text) {
  Scanned scanned;
  scanned.negative = take_sign(text);
  const std::string_view whole = text.substr(0, digits_at(text));
  text.remove_prefix(whole.size());
  std::string_view fraction;
  if (text.substr(0, 1) == ".") {
    text.remove_prefix(1);
    fraction = text.substr(0, digits_at(text));
    text.remove_prefix(fraction.size());
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  if (!text.empty()) {
    const char mark = text.front();
    const auto exponent = scan_exponent(text.substr(1));
    if (std::string_view("eEpP").find(mark) == std::string_view::npos || !exponent) return std::nullopt;
    (mark == 'e' || mark == 'E' ? scanned.ten : scanned.two) = *exponent;
  }
  scanned.digits.append(whole).append(fraction);
  scanned.digits.erase(0, std::min(scanned.digits.find_first_not_of('0'), scanned.digits.size()));
  scanned.ten -= static_cast<std::int64_t>(fraction.size());
  return scanned;
}

// The nearest float of left / right; neither is zero.
BinaryFloat quotient(const BinaryFloat& left, const BinaryFloat& right, bool negative, int precision) {
  const std::int64_t wanted = precision + 2 + BinaryFloat::bits(right.magnitude) - BinaryFloat::bits(left.magnitude);
  const std::int64_t shift = std::max<std::int64_t>(wanted, 0);
  BigInteger whole;
  BigInteger rest;
  divide_qr(BigInteger(left.magnitude << static_cast<unsigned>(shift)), right.magnitude, whole, rest);
  return rounded(negative, std::move(whole), left.exponent - shift - right.exponent, precision, rest != 0);
}

BigInteger signed_magnitude(const BinaryFloat& value, std::int64_t exponent) {
  BigInteger magnitude = value.magnitude << static_cast<unsigned>(value.exponent - exponent);
  return value.negative ? BigInteger(-magnitude) : magnitude;
}

BinaryFloat sum(const BinaryFloat& left, const BinaryFloat& right) {
  const int precision = std::max(left.precision, right.precision);
  if (left.infinite) return left;
  if (right.infinite) return right;
  const std::int64_t exponent = std::min(left.exponent, right.exponent);
  const BigInteger exact = signed_magnitude(left, exponent) + signed_magnitude(right, exponent);
  const bool both_negative = left.negative && right.negative;
  return rounded(exact == 0 ? both_negative : exact < 0, abs(exact), exponent, precision);
}

BinaryFloat product(const BinaryFloat& left, const BinaryFloat& right) {
  const bool negative = left.negative != right.negative;
  if (left.infinite || right.infinite) return {.negative = negative, .infinite = true};
  // cty multiplies with full precision and keeps as much as the product needs.
  BinaryFloat value =
      rounded(negative, left.magnitude * right.magnitude, left.exponent + right.exponent, BinaryFloat::kPrecision);
  const auto needed = value.magnitude == 0 ? 0 : static_cast<int>(BinaryFloat::bits(value.magnitude));
  value.precision = std::max({left.precision, right.precision, needed});
  return value;
}

BinaryFloat negated(BinaryFloat value) {
  value.negative = !value.negative;
  return value;
}

// A finite number rounded towards zero; zero becomes positive.
BinaryFloat truncated(BinaryFloat value) {
  if (value.exponent < 0) {
    value.magnitude >>= static_cast<unsigned>(-value.exponent);
    value.exponent = 0;
  }
  return rounded(value.negative && value.magnitude != 0, value.magnitude, value.exponent, BinaryFloat::kPrecision);
}

BinaryFloat of_int(std::int64_t value) {
  const BigInteger exact = value;
  return rounded(value < 0, abs(exact), 0, BinaryFloat::kPrecision);
}

bool is_negative_zero(const BinaryFloat& value) {
  return value.negative && value.is_zero();
}

std::optional<std::int64_t> int64_of(const BinaryFloat& value) {
  if (value.is_zero()) return 0;
  if (value.infinite || value.exponent < 0) return std::nullopt;
  if (value.negative && value.magnitude == 1 && value.exponent == 63) return kSmallest;
  if (value.top() > 63) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(value.magnitude) << value.exponent;
  return value.negative ? -magnitude : magnitude;
}

std::strong_ordering compare(const BinaryFloat& left, const BinaryFloat& right) {
  const auto side = [](const BinaryFloat& value) { return value.infinite ? (value.negative ? -1 : 1) : 0; };
  if (side(left) != 0 || side(right) != 0) return side(left) <=> side(right);
  const std::int64_t exponent = std::min(left.exponent, right.exponent);
  return signed_magnitude(left, exponent).compare(signed_magnitude(right, exponent)) <=> 0;
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

void Decimal::round(std::int64_t count) {
  if (count >= static_cast<std::int64_t>(digits.size())) return;
  if (count < 0) return cut(0, false);
  const auto at = static_cast<std::size_t>(count);
  const bool halfway = digits[at] == '5' && at + 1 == digits.size();
  cut(at, halfway ? at > 0 && (digits[at - 1] - '0') % 2 == 1 : digits[at] >= '5');
}

void Decimal::cut(std::size_t count, bool up) {
  digits.resize(count);
  while (up && !digits.empty() && digits.back() == '9') digits.pop_back();
  if (up && digits.empty()) {
    digits = "1";
    ++point;
  } else if (up) {
    ++digits.back();
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  point = digits.empty() ? 0 : point;
}

std::string Decimal::digits_between(std::int64_t from, std::int64_t to) const {
  std::string text;
  for (std::int64_t at = from; at < to; ++at) {
    const bool is_inside = at >= 0 && at < static_cast<std::int64_t>(digits.size());
    text += is_inside ? digits[static_cast<std::size_t>(at)] : '0';
  }
  return text;
}

std::string Decimal::fixed_text(std::int64_t precision) const {
  if (precision < 0) precision = std::max<std::int64_t>(static_cast<std::int64_t>(digits.size()) - point, 0);
  Decimal decimal = *this;
  decimal.round(point + precision);
  const std::string whole = decimal.point > 0 ? decimal.digits_between(0, decimal.point) : "0";
  return precision == 0 ? whole : whole + '.' + decimal.digits_between(decimal.point, decimal.point + precision);
}

Number::Number(Big value) {
  const auto small =
      value.precision == BinaryFloat::kPrecision && !is_negative_zero(value) ? int64_of(value) : std::nullopt;
  if (small) {
    value_ = *small;
  } else {
    value_ = std::make_shared<const Big>(std::move(value));
  }
}

Number::Big Number::big() const {
  const auto* small = std::get_if<std::int64_t>(&value_);
  return small != nullptr ? Big{of_int(*small)} : *std::get<std::shared_ptr<const Big>>(value_);
}

Number Number::from_double(double value) {
  constexpr int kDigits = std::numeric_limits<double>::digits;
  if (std::isinf(value)) return Number(Big{{.negative = value < 0, .infinite = true}});
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(std::abs(value), &exponent), kDigits);
  return Number(Big{rounded(std::signbit(value), BigInteger(static_cast<std::uint64_t>(mantissa)),
                            static_cast<std::int64_t>(exponent) - kDigits, kDigits)});
}

std::optional<Number> Number::parse(std::string_view text) {
  // Digits after these make no difference: no float, and no midpoint of two floats, has as many.
  constexpr std::size_t kMaxDigits = 6000;
  constexpr std::int64_t kMaxPoint = 1400;
  auto scanned = scan(text);
  if (!scanned) return std::nullopt;
  std::string& digits = scanned->digits;
  if (digits.empty()) return Number(Big{{.negative = scanned->negative}});
  if (digits.size() <= 18 && scanned->ten == 0 && scanned->two == 0) {
    const std::int64_t magnitude = std::stoll(digits);
    return Number(scanned->negative ? -magnitude : magnitude);
  }
  const std::int64_t point = static_cast<std::int64_t>(digits.size()) + scanned->ten;
  if (std::abs(point) > kMaxPoint || std::abs(scanned->two) > 2 * BinaryFloat::kMaxExponent) return std::nullopt;
  if (digits.size() > kMaxDigits) {
    const bool more = digits.find_first_not_of('0', kMaxDigits) != std::string::npos;
    scanned->ten += static_cast<std::int64_t>(digits.size() - kMaxDigits) - 1;
    digits.resize(kMaxDigits);
    digits.push_back(more ? '1' : '0');
  }
  const BinaryFloat whole{.magnitude = BigInteger(digits), .exponent = scanned->two};
  const BigInteger ten = pow(BigInteger(10), static_cast<unsigned>(std::abs(scanned->ten)));
  constexpr int kPrecision = BinaryFloat::kPrecision;
  const BinaryFloat value = scanned->ten < 0
                                ? quotient(whole, {.magnitude = ten}, scanned->negative, kPrecision)
                                : rounded(scanned->negative, whole.magnitude * ten, whole.exponent, kPrecision);
  if (value.infinite || value.is_zero()) return std::nullopt;
  return Number(Big{value});
}

std::string Number::to_string() const {
  const auto* small = std::get_if<std::int64_t>(&value_);
  if (small != nullptr) return std::to_string(*small);
  const Big value = big();
  if (value.infinite) return value.negative ? "-Inf" : "+Inf";
  return (value.negative ? "-" : "") + shortest().fixed_text();  // Go's big.Float.Text('f', -1)
}

Decimal Number::shortest() const {
  Decimal decimal = exact();
  if (const Big value = big(); !value.is_zero()) shorten(decimal, value);
  return decimal;
}

Decimal Number::exact() const {
  const Big value = big();
  Decimal decimal = exact_decimal(value.magnitude, value.exponent);
  decimal.is_negative = value.negative;
  return decimal;
}

std::string Number::whole_text(unsigned base) const {
  const Big value = big();
  std::string text;
  for (BigInteger left = value.magnitude << static_cast<unsigned>(value.exponent); left != 0; left /= base) {
    text += "0123456789abcdef"[static_cast<unsigned>(left % base)];
  }
  std::reverse(text.begin(), text.end());
  return text.empty() ? "0" : text;
}

bool Number::is_finite() const {
  const auto* large = std::get_if<std::shared_ptr<const Big>>(&value_);
  return large == nullptr || !(*large)->infinite;
}

bool Number::is_integer() const {
  const auto* large = std::get_if<std::shared_ptr<const Big>>(&value_);
  return large == nullptr || (!(*large)->infinite && (*large)->exponent >= 0);
}

std::optional<std::int64_t> Number::as_int64() const {
  const auto* small = std::get_if<std::int64_t>(&value_);
  return small != nullptr ? *small : int64_of(big());
}

double Number::as_double() const {
  const Big exact = big();
  double value = std::numeric_limits<double>::infinity();
  if (!exact.infinite) {
    const BinaryFloat near = rounded(false, exact.magnitude, exact.exponent, std::numeric_limits<double>::digits);
    value = std::ldexp(near.magnitude.convert_to<double>(), static_cast<int>(near.exponent));
  }
  return exact.negative ? -value : value;
}

Number Number::operator-() const {
  const auto* small = std::get_if<std::int64_t>(&value_);
  if (small != nullptr && *small != 0 && *small != kSmallest) return Number(-*small);
  return Number(Big{negated(big())});
}

Number Number::operator+(const Number& other) const {
  const auto* left = std::get_if<std::int64_t>(&value_);
  const auto* right = std::get_if<std::int64_t>(&other.value_);
  std::int64_t result = 0;
  if (left != nullptr && right != nullptr && !__builtin_add_overflow(*left, *right, &result)) return Number(result);
  return Number(Big{sum(big(), other.big())});
}

Number Number::operator-(const Number& other) const {
  return *this + -other;
}

Number Number::operator*(const Number& other) const {
  const auto* left = std::get_if<std::int64_t>(&value_);
  const auto* right = std::get_if<std::int64_t>(&other.value_);
  std::int64_t result = 0;
  const bool fits = left != nullptr && right != nullptr && !__builtin_mul_overflow(*left, *right, &result);
  // A zero may be a negative one.
  if (fits && result != 0) return Number(result);
  return Number(Big{product(big(), other.big())});
}

std::optional<Number> Number::divided_by(const Number& other) const {
  const Big left = big();
  const Big right = other.big();
  const bool negative = left.negative != right.negative;
  const int precision = std::max(left.precision, right.precision);
  if (right.is_zero()) return std::nullopt;
  if (left.infinite || right.infinite) return Number(Big{{.negative = negative, .infinite = true}});
  if (left.is_zero()) return Number(Big{{.negative = negative, .precision = precision}});
  return Number(Big{quotient(left, right, negative, precision)});
}

std::optional<Number> Number::modulo(const Number& other) const {
  if (!is_finite() || !other.is_finite()) return std::nullopt;
  const auto ratio = divided_by(other);
  if (!ratio) return *this;
  // cty rounds the product of ratio and divisor, so for large ratios the result may differ from the exact remainder.
  return *this - Number(Big{product(truncated(ratio->big()), other.big())});
}

Number Number::floor() const {
  if (!is_finite()) return *this;
  const Big value = big();
  const Number whole(Big{truncated(value)});
  if (value.exponent >= 0) return whole;
  return value.negative ? whole - Number(1) : whole;
}

Number Number::ceil() const {
  if (!is_finite()) return *this;
  const Big value = big();
  const Number whole(Big{truncated(value)});
  if (value.exponent >= 0) return whole;
  return value.negative ? whole : whole + Number(1);
}

std::strong_ordering Number::operator<=>(const Number& other) const {
  const auto* left = std::get_if<std::int64_t>(&value_);
  const auto* right = std::get_if<std::int64_t>(&other.value_);
  if (left != nullptr && right != nullptr) return *left <=> *right;
  return compare(big(), other.big());
}

}  // namespace modlock::eval
