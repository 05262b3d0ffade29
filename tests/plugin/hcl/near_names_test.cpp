#include "plugin/hcl/near_names.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

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

BOOST_AUTO_TEST_CASE(hints) {
  struct Row {
    const char* name;
    std::string_view word;
    std::vector<std::string_view> known;
    std::string_view hint;
  };
  const Row rows[] = {
      {"none known", "region", {}, ""},
      {"one letter", "regio", {"zone", "region"}, "did you mean \"region\"?"},
      {"two letters swapped", "regoin", {"region"}, "did you mean \"region\"?"},
      {"three letters", "reg", {"region"}, ""},
      {"the nearest", "vpc_ids", {"vpc", "vpc_id", "vpc_idss"}, "did you mean \"vpc_id\"?"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(did_you_mean(row.word, row.known) == row.hint);
    }
  }
  const std::string longest(64, 'a');
  BOOST_TEST(did_you_mean(longest, {longest}) != "");
  const std::string longer(65, 'a');
  BOOST_TEST(did_you_mean(longer, {longer}) == "");
  BOOST_TEST(did_you_mean("a", std::vector<std::string_view>(257, "a")) == "");
}

BOOST_AUTO_TEST_SUITE_END()
