#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>

namespace modlock::eval {

using BigInteger =
    boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

// magnitude * 2^exponent: what a Number is that does not fit 64 bits. The magnitude is odd or zero.
struct BinaryFloat {
  static constexpr int kPrecision = 512;  // bits
  static constexpr std::int64_t kMaxExponent = 4096;

  bool negative = false;
  bool infinite = false;
  BigInteger magnitude = 0;
  std::int64_t exponent = 0;
  int precision = kPrecision;

  bool is_zero() const { return !infinite && magnitude == 0; }
  // The exponent of the leading bit plus one: 2^(top-1) <= |value| < 2^top. Not of zero.
  std::int64_t top() const { return exponent + bits(magnitude); }

  static std::int64_t bits(const BigInteger& value) { return static_cast<std::int64_t>(msb(value)) + 1; }
};

// The float nearest to magnitude * 2^exponent, of two equally near the even one. `more`: the exact value is a little
// larger than that, by less than one unit of `magnitude`, which then has more bits than the precision.
BinaryFloat rounded(bool negative, BigInteger magnitude, std::int64_t exponent, int precision, bool more = false);

// Go's big.Float.Text('f', -1).
std::string shortest_text(const BinaryFloat& value);

}  // namespace modlock::eval
