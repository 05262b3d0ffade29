#pragma once

#include <cstdint>
#include <string>

#include "plugin/value/number.h"

namespace modlock::eval {

// A finite number in decimal digits: 0.d1d2d3… * 10^point, without zeros at either end. Zero has no digits.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  std::int64_t point = 0;

  // Rounds to that many digits, halves to even.
  void round(std::int64_t count);
};

// The digits that tostring() shows.
Decimal shortest_decimal(const Number& number);
// All digits of the binary number.
Decimal exact_decimal(const Number& number);

// Go's verbs without sign: "1.500000e+00", "1.500000", and %g, where precision -1 stands for as many digits as are
// there. `exponent` is 'e' or 'E'.
std::string scientific_text(Decimal decimal, std::int64_t precision, char exponent);
std::string fixed_text(Decimal decimal, std::int64_t precision);
std::string general_text(Decimal decimal, std::int64_t precision, char exponent);

// The digits of a whole number without sign in base 2, 8, 10 or 16.
std::string whole_text(const Decimal& whole, unsigned base);

}  // namespace modlock::eval
