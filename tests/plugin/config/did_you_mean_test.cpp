#include "plugin/config/did_you_mean.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(did_you_mean_hints)

BOOST_AUTO_TEST_CASE(nearest_names) {
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
