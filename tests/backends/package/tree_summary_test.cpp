#include "backends/package/tree_summary.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(tree_summary)

BOOST_AUTO_TEST_CASE(text_is_read_back) {
  const TreeSummary summary{.files = {{"a b", std::string(64, '0')}, {"c/d.tf", std::string(64, 'f')}}};
  BOOST_TEST(summary.text() == std::string(64, '0') + "  a b\n" + std::string(64, 'f') + "  c/d.tf\n");
  const auto read = parse_tree_summary(summary.text());
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->text() == summary.text());
  BOOST_TEST(read->h1() == summary.h1());
  BOOST_TEST(parse_tree_summary("")->h1() == "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

BOOST_AUTO_TEST_CASE(other_text_is_refused) {
  const std::string digest(64, '0');
  for (const std::string& text : {std::string("x"), std::string("\n"), digest + "  a", digest + "  \n",
                                  digest + " a b\n", digest.substr(1) + "  a\n", digest + "  a\n\n"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(!parse_tree_summary(text).has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
