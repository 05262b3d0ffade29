#include "plugin/hcl/template_text.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;
using namespace modlock::hcl;

BOOST_AUTO_TEST_SUITE(template_text)

BOOST_AUTO_TEST_CASE(a_template_of_parts) {
  const auto parsed = parse_template("a\n${b}\"c\"", "x.tftpl");
  BOOST_TEST_REQUIRE(parsed.has_value());
  const auto* node = std::get_if<Template>(&parsed->node);
  BOOST_TEST_REQUIRE(node != nullptr);
  BOOST_TEST_REQUIRE(node->parts.size() == 3U);
  BOOST_TEST(std::get<std::string>(node->parts[0].what) == "a\n");
  BOOST_TEST(std::get<std::string>(node->parts[2].what) == "\"c\"");
  BOOST_TEST((parsed->range == Range{{1, 1, 0}, {2, 8, 9}}));
}

BOOST_AUTO_TEST_CASE(one_interpolation_is_the_expression_itself) {
  const auto parsed = parse_template("${b}", "x.tftpl");
  BOOST_TEST_REQUIRE(parsed.has_value());
  BOOST_TEST(std::holds_alternative<Variable>(parsed->node));
  BOOST_TEST((parsed->range == Range{{1, 3, 2}, {1, 4, 3}}));
}

BOOST_AUTO_TEST_CASE(errors) {
  struct Row {
    const char* name;
    std::string_view text;
    const char* message;
    const char* place;
  };
  const Row rows[] = {
      {"no end", "a\n${b", "\"${\" is never closed: expected \"}\" to end the interpolation before the end of the file",
       "x.tftpl:2:1"},
      {"a directive that ends nothing", "%{ endif }", "this directive ends nothing: expected an if or a for before it",
       "x.tftpl:1:1"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = parse_template(row.text, "x.tftpl");
      BOOST_TEST_REQUIRE(!parsed.has_value());
      BOOST_TEST(parsed.error().message == row.message);
      BOOST_TEST(to_string(*parsed.error().location) == row.place);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
