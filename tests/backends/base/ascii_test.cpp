#include "backends/base/ascii.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

namespace {

// The bytes, of all 256, that belong to a class.
std::string members(bool (*belongs)(char)) {
  std::string found;
  for (int byte = 0; byte < 256; ++byte) {
    if (belongs(static_cast<char>(byte))) {
      found += static_cast<char>(byte);
    }
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ascii_test)

BOOST_AUTO_TEST_CASE(a_class_has_the_ascii_characters_of_its_name_and_no_other_byte) {
  const std::string digits = "0123456789";
  const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::string lower = "abcdefghijklmnopqrstuvwxyz";
  BOOST_TEST(members(ascii::is_ascii).size() == 128U);
  BOOST_TEST(members(ascii::is_ascii).back() == '\x7f');
  BOOST_TEST(members(ascii::is_digit) == digits);
  BOOST_TEST(members(ascii::is_lower) == lower);
  BOOST_TEST(members(ascii::is_upper) == upper);
  BOOST_TEST(members(ascii::is_alpha) == upper + lower);
  BOOST_TEST(members(ascii::is_alnum) == digits + upper + lower);
  BOOST_TEST(members(ascii::is_space) == "\t\n\v\f\r ");
  BOOST_TEST(members(ascii::is_hex) == "0123456789ABCDEFabcdef");
  BOOST_TEST(members(ascii::is_lower_hex) == "0123456789abcdef");
}

BOOST_AUTO_TEST_CASE(a_hexadecimal_digit_has_a_value_in_either_case) {
  const std::string digits = "0123456789abcdefABCDEF";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    BOOST_TEST(ascii::hex_value(digits[i]) == static_cast<int>(i < 16 ? i : i - 6), digits[i]);
  }
  BOOST_TEST(ascii::hex_value('g') == -1);
  BOOST_TEST(ascii::hex_value('/') == -1);
}

BOOST_AUTO_TEST_CASE(only_ascii_letters_have_a_case) {
  BOOST_TEST(ascii::lower("AZaz09[@É") == "azaz09[@É");
  BOOST_TEST(ascii::to_upper('z') == 'Z');
  BOOST_TEST(ascii::to_upper('{') == '{');
  BOOST_TEST(ascii::equals_ignoring_case("Content-Type", "content-TYPE"));
  BOOST_TEST(ascii::equals_ignoring_case("", ""));
  BOOST_TEST(!ascii::equals_ignoring_case("é", "É"));
  BOOST_TEST(!ascii::equals_ignoring_case("name", "names"));
  BOOST_TEST(!ascii::equals_ignoring_case("[", "{"));
}

BOOST_AUTO_TEST_SUITE_END()
