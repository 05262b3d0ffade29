#include "backends/base/text.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(amounts)

BOOST_AUTO_TEST_CASE(counts_have_a_plural) {
  BOOST_TEST(counted(0, "tag") == "0 tags");
  BOOST_TEST(counted(1, "tag") == "1 tag");
  BOOST_TEST(counted(2, "tag") == "2 tags");
  BOOST_TEST(counted(1, "repository", "repositories") == "1 repository");
  BOOST_TEST(counted(2, "repository", "repositories") == "2 repositories");
}

BOOST_AUTO_TEST_CASE(sizes_are_never_shown_as_nothing) {
  struct Row {
    std::uint64_t bytes;
    const char* text;
  };
  for (const Row& row :
       {Row{0, "0 KiB"}, Row{1, "1 KiB"}, Row{1024, "1 KiB"}, Row{1025, "2 KiB"}, Row{104857, "103 KiB"},
        Row{104858, "0.1 MiB"}, Row{1572864, "1.5 MiB"}, Row{5368709120, "5120.0 MiB"}}) {
    BOOST_TEST(size_text(row.bytes) == row.text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

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
