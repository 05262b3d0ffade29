#include "plugin/hcl/near_names.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>

using namespace modlock::hcl;

BOOST_AUTO_TEST_SUITE(near_names)

BOOST_AUTO_TEST_CASE(nearest) {
  struct Row {
    const char* name;
    std::string_view given;
    std::string_view nearest;
  };
  const Row rows[] = {
      {"the same", "upper", "upper"},         {"a byte left out", "uppr", "upper"},
      {"a byte too many", "uupper", "upper"}, {"another byte", "upber", "upper"},
      {"two bytes", "opber", "upper"},        {"three bytes", "opbel", ""},
      {"the nearer one", "lowe", "lower"},    {"the first of two equal ones", "jo", "joy"},
      {"nothing like it", "x", ""},           {"empty", "", ""},
  };
  constexpr std::array<std::string_view, 5> kKnown = {"joy", "job", "lowest", "lower", "upper"};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(nearest_name(row.given, kKnown).value_or("") == row.nearest);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
