#include "plugin/value/number.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plugin/value/binary_float.h"

namespace modlock::eval {

struct Number::Big : BinaryFloat {};

namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

// Removes a sign from the front; true where it is a minus.
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

// The sign and the digits of an exponent, which are all of `text`. Saturates far beyond what a number can have.
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

// The nearest float of left / right, which are no zero.
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
  // cty multiplies with full precision and keeps what the product needs.
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

// A finite number rounded towards zero, which then is the positive one.
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
  // More digits than these make no difference: no float and no middle of two has as many.
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
  return small != nullptr ? std::to_string(*small) : shortest_text(big());
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
  // cty rounds the product of ratio and divisor, so of large ratios something else than the exact rest may be left.
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
