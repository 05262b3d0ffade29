#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace modlock::eval {

// A finite number in decimal digits: 0.d1d2d3… * 10^point, without zeros at either end. Zero has no digits.
struct Decimal {
  bool is_negative = false;
  std::string digits = {};
  std::int64_t point = 0;

  // Rounds to that many digits, halves to even.
  void round(std::int64_t count);
  // Keeps the first digits, rounded up or down.
  void cut(std::size_t count, bool up);
  // Returns the digits from one index to another, and zeros before and after all digits.
  std::string digits_between(std::int64_t from, std::int64_t to) const;
  // Returns the text without sign and exponent, with that many digits after the point; -1: all.
  std::string fixed_text(std::int64_t precision = -1) const;
};

// A number as OpenTofu computes with it: binary floating point of 512 bits, rounded to the nearest, halves to even
// (Go's big.Float as cty uses it), with a negative zero that equals zero. Integers of 64 bits are kept as integers.
// Only the exponent is narrower than in Go: from 2^4096 (about 1e1233) on a number is infinite, below 2^-4096 it is
// zero, so that no text exceeds about 1400 characters. Results computed from an infinite number are infinite; the
// caller checks is_finite() and reports it.
class Number {
 public:
  Number() = default;
  explicit Number(std::int64_t value) : value_(value) {}
  // A number (not a NaN) with the precision of a double: to_string() writes only the digits that are needed.
  static Number from_double(double value);

  // Reads decimal text: an optional sign, digits with an optional point before, among or after them, and an optional
  // exponent of ten ("-1.5e3") or of two ("1p4"). This is HCL's number literal (with a minus) and the input of
  // tonumber(): no blanks, no "_", no "0x". nullopt for any other text, for "inf", which cty accepts, and for a nonzero
  // number that would become infinite or zero.
  static std::optional<Number> parse(std::string_view text);

  // The text of tostring(): the shortest decimal text that reads back as the same number, never with an exponent; "-0"
  // for the negative zero, "+Inf" and "-Inf" for infinite numbers.
  std::string to_string() const;

  // The digits of to_string(), and all digits of the binary number. Only of a finite number.
  Decimal shortest() const;
  Decimal exact() const;
  // The digits of an integer without its sign, in base 2 to 16.
  std::string whole_text(unsigned base) const;

  bool is_finite() const;
  bool is_integer() const;                       // false for an infinite number
  std::optional<std::int64_t> as_int64() const;  // nullopt if it is not an integer or does not fit
  double as_double() const;                      // the nearest

  Number operator-() const;
  Number operator+(const Number& other) const;
  Number operator-(const Number& other) const;
  Number operator*(const Number& other) const;
  // nullopt for a division by zero (OpenTofu makes it infinite).
  std::optional<Number> divided_by(const Number& other) const;
  // The remainder of a division that truncates towards zero, with the sign of the dividend. For a division by zero it
  // is the dividend, as in OpenTofu. nullopt if one of the numbers is infinite.
  std::optional<Number> modulo(const Number& other) const;
  Number floor() const;
  Number ceil() const;

  std::strong_ordering operator<=>(const Number& other) const;
  bool operator==(const Number& other) const { return (*this <=> other) == 0; }

 private:
  struct Big;
  explicit Number(Big value);
  Big big() const;

  std::variant<std::int64_t, std::shared_ptr<const Big>> value_ = std::int64_t{0};
};

}  // namespace modlock::eval
