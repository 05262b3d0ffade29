#include "plugin/value/number.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace {

using modlock::eval::Number;

Number number(const std::string& text) {
  const auto parsed = Number::parse(text);
  BOOST_TEST_REQUIRE(parsed.has_value(), text);
  return *parsed;
}

std::string text_of(const std::optional<Number>& number) {
  return number ? number->to_string() : "none";
}

BOOST_AUTO_TEST_SUITE(number_tests)

// Go's big.ParseFloat(text, 10, 512, ToNearestEven) and Text('f', -1) give the same.
BOOST_AUTO_TEST_CASE(texts) {
  struct Row {
    const char* name;
    const char* text;
    const char* printed;
  };
  const Row rows[] = {
      {"zero", "0", "0"},
      {"negative zero", "-0", "-0"},
      {"negative zero with a fraction", "-0.0", "-0"},
      {"plus sign", "+1", "1"},
      {"leading zeros", "010", "10"},
      {"point behind", "1.", "1"},
      {"point before", "-.5", "-0.5"},
      {"exponent", "1e3", "1000"},
      {"capital exponent with sign", "1E+3", "1000"},
      {"negative exponent", "1e-3", "0.001"},
      {"point and exponent", "1.e2", "100"},
      {"exponent of two", "1p4", "16"},
      {"negative exponent of two", "1p-2", "0.25"},
      {"fraction and exponent of two", "1.5p1", "3"},
      {"zero with any exponent", "0e99999999", "0"},
      {"smallest of 64 bits", "-9223372036854775808", "-9223372036854775808"},
      {"largest of 64 bits", "9223372036854775807", "9223372036854775807"},
      {"beyond 64 bits", "9223372036854775808", "9223372036854775808"},
      {"no binary fraction", "0.1", "0.1"},
      {"many digits", "123456789012345678901234567890.5", "123456789012345678901234567890.5"},
      {"empty", "", "none"},
      {"blank before", " 1", "none"},
      {"blank behind", "1 ", "none"},
      {"hexadecimal", "0x10", "none"},
      {"separator", "1_000", "none"},
      {"infinity", "inf", "none"},
      {"not a number", "nan", "none"},
      {"point alone", ".", "none"},
      {"exponent alone", "e5", "none"},
      {"exponent without digits", "1e", "none"},
      {"two exponents", "1e5p3", "none"},
      {"two signs", "--1", "none"},
      {"digits of another script", "\xD9\xA3", "none"},
      {"too large", "1e1234", "none"},
      {"far too large", "1e999999999", "none"},
      {"exponent beyond 64 bits", "1e-99999999999999999999", "none"},
      {"too small", "1e-1234", "none"},
      {"too large in twos", "1p4096", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text_of(Number::parse(row.text)) == row.printed);
    }
  }
  BOOST_TEST(number("1e1233").to_string() == "1" + std::string(1233, '0'));
  BOOST_TEST(number("1p4095").to_string().size() == 1233U);
  BOOST_TEST(text_of(Number::parse(std::string(100'000, '1'))) == "none");
  BOOST_TEST((number("0." + std::string(100'000, '3')) == Number(1).divided_by(Number(3))));
}

BOOST_AUTO_TEST_CASE(arithmetic) {
  struct Row {
    const char* name;
    const char* left;
    const char* right;
    const char* sum;
    const char* difference;
    const char* product;
    const char* quotient;
    const char* rest;
  };
  const std::string third(154, '3');
  const Row rows[] = {
      {"integers", "7", "2", "9", "5", "14", "3.5", "1"},
      {"negative dividend", "-7", "4", "-3", "-11", "-28", "-1.75", "-3"},
      {"negative divisor", "7", "-4", "3", "11", "-28", "-1.75", "3"},
      {"fractions", "-7.5", "2", "-5.5", "-9.5", "-15", "-3.75", "-1.5"},
      {"beyond 64 bits", "9223372036854775807", "1", "9223372036854775808", "9223372036854775806",
       "9223372036854775807", "9223372036854775807", "0"},
      {"back to 64 bits", "9223372036854775808", "-1", "9223372036854775807", "9223372036854775809",
       "-9223372036854775808", "-9223372036854775808", "0"},
      {"zeros have signs", "0", "-1", "-1", "1", "-0", "-0", "0"},
      {"by zero", "7", "0", "7", "7", "0", "none", "7"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Number left = number(row.left);
      const Number right = number(row.right);
      BOOST_TEST((left + right).to_string() == row.sum);
      BOOST_TEST((left - right).to_string() == row.difference);
      BOOST_TEST((left * right).to_string() == row.product);
      BOOST_TEST(text_of(left.divided_by(right)) == row.quotient);
      BOOST_TEST(text_of(left.modulo(right)) == row.rest);
    }
  }
  BOOST_TEST(text_of(Number(1).divided_by(Number(3))) == "0." + third + "5");
  BOOST_TEST((-Number(std::numeric_limits<std::int64_t>::min())).to_string() == "9223372036854775808");
  BOOST_TEST((-Number()).to_string() == "-0");
}

BOOST_AUTO_TEST_CASE(integers) {
  struct Row {
    const char* name;
    const char* text;
    const char* floor;
    const char* ceil;
    bool is_integer;
    std::optional<std::int64_t> small;
  };
  const Row rows[] = {
      {"integer", "3", "3", "3", true, 3},
      {"fraction", "1.5", "1", "2", false, {}},
      {"negative fraction", "-1.5", "-2", "-1", false, {}},
      {"up to zero", "-0.5", "-1", "0", false, {}},
      {"negative zero", "-0", "0", "0", true, 0},
      {"large", "1e30", "1000000000000000000000000000000", "1000000000000000000000000000000", true, {}},
      {"integer from a fraction", "2.50e1", "25", "25", true, 25},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Number value = number(row.text);
      BOOST_TEST(value.floor().to_string() == row.floor);
      BOOST_TEST(value.ceil().to_string() == row.ceil);
      BOOST_TEST(value.is_integer() == row.is_integer);
      BOOST_TEST((value.as_int64() == row.small));
    }
  }
}

BOOST_AUTO_TEST_CASE(order) {
  const char* const rising[] = {"-1e40", "-9223372036854775809", "-1", "-0.5", "0", "1e-40", "1", "1.5", "2", "1e40"};
  for (std::size_t i = 0; i < std::size(rising); ++i) {
    for (std::size_t j = 0; j < std::size(rising); ++j) {
      BOOST_TEST_CONTEXT(rising[i] << " and " << rising[j]) {
        BOOST_TEST(((number(rising[i]) <=> number(rising[j])) == (i <=> j)));
      }
    }
  }
  BOOST_TEST((number("-0") == Number(0)));
}

BOOST_AUTO_TEST_CASE(doubles_keep_their_precision) {
  BOOST_TEST(Number::from_double(std::sqrt(2.0)).to_string() == "1.4142135623730951");
  BOOST_TEST(Number::from_double(std::pow(2.0, 100)).to_string() == "1267650600228229400000000000000");
  BOOST_TEST((Number::from_double(0.5) + number("0.1")).to_string() == "0.6");
  BOOST_TEST((Number::from_double(8) == Number(8)));
  BOOST_TEST(number("0.1").as_double() == 0.1);
  BOOST_TEST(number("-1e300").as_double() == -1e300);
  BOOST_TEST(number("1e400").as_double() == std::numeric_limits<double>::infinity());
}

BOOST_AUTO_TEST_CASE(infinite_numbers) {
  const Number huge = number("-1e1233") * number("1e1233");
  BOOST_TEST(!huge.is_finite());
  BOOST_TEST(!huge.is_integer());
  BOOST_TEST(huge.to_string() == "-Inf");
  BOOST_TEST((huge + Number(1)).to_string() == "-Inf");
  BOOST_TEST((huge * Number(-1)).to_string() == "+Inf");
  BOOST_TEST(text_of(huge.modulo(Number(2))) == "none");
  BOOST_TEST((huge < number("-1e1233")));
  BOOST_TEST((number("1e-1233") * number("1e-1233") == Number()));
}

// parse(print(x)) = x
BOOST_AUTO_TEST_CASE(printed_numbers_read_back) {
  constexpr unsigned kSeed = 20240917;
  std::mt19937 random(kSeed);
  const auto digits = [&](unsigned most) {
    std::string text;
    for (auto left = 1 + random() % most; left > 0; --left) text += static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    const std::string exponent = std::to_string(static_cast<int>(random() % 600) - 300);
    const std::string text = (random() % 2 == 0 ? "-" : "") + digits(200) + "." + digits(200) + "e" + exponent;
    BOOST_TEST_CONTEXT("seed " << kSeed << ", " << text) {
      const Number exact = number(text);
      const Number divided = exact.divided_by(number(digits(20) + "1")).value();
      const Number rounded = Number::from_double(number(digits(17) + "e" + std::to_string(random() % 40)).as_double());
      BOOST_TEST((number(exact.to_string()) == exact));
      BOOST_TEST((number(divided.to_string()) == divided));
      BOOST_TEST(number(rounded.to_string()).as_double() == rounded.as_double());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
