#include "plugin/constraint/module_constraint.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(constraint_test)

namespace {

Version version(const std::string& text) {
  return Version::parse(text).value();
}
ModuleConstraint constraint(const std::string& text) {
  return ModuleConstraint::parse(text).value();
}

std::string item_message(const std::string& text, const std::string& item) {
  return "\"" + text + "\" is not a version constraint: item \"" + item +
         "\" must be an optional operator (=, !=, >, >=, <, <=, ~>) and a version";
}

}  // namespace

BOOST_AUTO_TEST_CASE(decides_as_opentofu_does) {
  struct Row {
    const char* constraint;
    const char* version;
    bool allows;
    bool selects;
  };
  const Row rows[] = {
      {"1.2.3", "1.2.3", true, true},
      {"1.2.3", "1.2.4", false, false},
      {"=1.2.3", "1.2.3", true, true},
      {"1.2", "1.2.0", true, true},
      {"1.2.3", "1.2.3+meta", true, true},
      {"1.2.3+meta", "1.2.3+meta", true, true},
      {"= 1.2.3+meta", "1.2.3+other", false, false},
      {"1.2.3+meta", "1.2.3", false, false},
      {">= 1.2.3+meta", "1.2.3+other", true, true},
      {"!= 1.2.3+meta", "1.2.3+other", false, false},
      {"!= 1.2.3", "1.2.3", false, false},
      {"!= 1.2.3", "1.2.4", true, true},
      {"> 1.2", "1.2.1", true, true},
      {"> 1.2", "1.2.0", false, false},
      {">= 1.2", "1.2.0", true, true},
      {"< 2", "1.9.9", true, true},
      {"< 2", "2.0.0", false, false},
      {"<= 2", "2.0.0", true, true},
      {">= 1.0, < 2.0", "1.5.0", true, true},
      {">= 1.0, < 2.0", "2.0.0", false, false},
      {">= 1.0, != 1.5.0", "1.5.0", false, false},
      {"~> 1", "7.0.0", true, true},
      {"~> 1", "0.9.0", false, false},
      {"~> 1.2", "1.9.0", true, true},
      {"~> 1.2", "2.0.0", false, false},
      {"~> 1.2", "1.1.9", false, false},
      {"~> 1.2.3", "1.2.9", true, true},
      {"~> 1.2.3", "1.3.0", false, false},
      {"~> 1.2.3", "1.2.2", false, false},
      {"~> 1.2.3.4", "1.2.3", false, false},
      {"~> 1.2", "1.3.0.5", true, true},
      {"~> 1.2.3.4", "1.2.3.5", true, true},
      {"> 1.0", "1.1.0-beta", false, false},
      {">= 1.0.0-beta", "1.0.0-beta", true, false},
      {">= 1.0.0-beta", "1.0.0-rc1", true, false},
      {">= 1.0.0-beta", "1.1.0-rc1", false, false},
      {">= 1.0.0-beta", "1.1.0", true, true},
      {">= 1.0.0-alpha", "1.0.0-alpha.beta", false, false},
      {"~> 1.0.0-beta", "1.0.0-beta2", true, false},
      {"~> 1.0.0-beta", "1.0.1", false, false},
      {"1.0.0-beta1", "1.0.0-beta1", true, true},
      {"=1.0.0-beta1", "1.0.0-beta1", true, true},
      {"v1.0.0-beta1", "1.0.0-beta1", true, true},
      {"=v1.0.0-beta1", "1.0.0-beta1", true, true},
      {" 1.0.0-beta1 ", "1.0.0-beta1", true, true},
      {"= 1.0.0-beta1", "1.0.0-beta1", true, false},
      {"= v1.0.0-beta1", "1.0.0-beta1", true, false},
      {"1.0.0beta1", "1.0.0-beta1", true, false},
      {"1.0-beta1", "1.0.0-beta1", true, true},
      {"1.0.0.0-beta1", "1.0.0.0-beta1", true, false},
      {"1.0.0-beta1, < 2.0", "1.0.0-beta1", false, false},
      {"1.0.0-beta1", "1.0.0-beta1+meta", true, false},
      {"1.0.0-beta1+meta", "1.0.0-beta1+meta", true, true},
      {"1.0.0-a~b", "1.0.0-a~b", true, false},
      {"!= 1.0.0", "1.0.0-beta1", true, false},
      {"= 1.0.0", "1.0.0.0-beta", true, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.constraint << " with " << row.version) {
      const auto parsed = ModuleConstraint::parse(row.constraint);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      BOOST_TEST(parsed->allows(version(row.version)) == row.allows);
      BOOST_TEST(parsed->selects(version(row.version)) == row.selects);
    }
  }
}

BOOST_AUTO_TEST_CASE(writes_constraints_for_the_lock_file) {
  struct Row {
    const char* name;
    const char* text;
    const char* written;
  };
  const Row rows[] = {
      {"no operator", " 1.2.3 ", "1.2.3"},
      {"space added", "~>1.2", "~> 1.2"},
      {"spaces reduced", ">=   1.0 ,<2.0", ">= 1.0, < 2.0"},
      {"order and spelling kept", "< v2, != 1.02.3,>= 1", "< v2, != 1.02.3, >= 1"},
      {"tab and line end", "\t>=\n1.0", ">= 1.0"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = constraint(row.text);
      BOOST_TEST(parsed.text() == row.written);
      BOOST_TEST(constraint(parsed.text()).text() == row.written);
    }
  }
}

BOOST_AUTO_TEST_CASE(keeps_the_items_in_order) {
  const auto parsed = constraint(">= 1.2, != 1.3.0-rc1, ~> 1");
  BOOST_REQUIRE(parsed.items().size() == 3U);
  BOOST_TEST((parsed.items()[0].comparator == Comparator::greater_equal));
  BOOST_TEST(parsed.items()[0].version.to_string() == "1.2.0");
  BOOST_TEST((parsed.items()[1].comparator == Comparator::not_equal));
  BOOST_TEST(parsed.items()[1].version.to_string() == "1.3.0-rc1");
  BOOST_TEST((parsed.items()[2].comparator == Comparator::pessimistic));
  BOOST_TEST(parsed.items()[2].version.given_numbers() == 1U);
}

BOOST_AUTO_TEST_CASE(knows_a_pessimistic_constraint_without_upper_bound) {
  struct Row {
    const char* text;
    bool unbounded;
  };
  const Row rows[] = {
      {"~> 2", true},       {"~> 2, != 2.1.0", true}, {"~> 2, >= 2.1", true},
      {"~> 2, < 4", false}, {"~> 2, <= 4", false},    {"~> 2, ~> 2.1", false},
      {"~> 2.0", false},    {"~> 2-beta", false},     {">= 2", false},
      {"2", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(constraint(row.text).is_unbounded_pessimistic() == row.unbounded);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_what_is_wrong_with_a_constraint) {
  struct Row {
    const char* name;
    const char* text;
    std::string message;
    const char* hint;
  };
  const char* const example = "write a constraint such as \"~> 1.2\" or \">= 1.2.0, < 2.0.0\"";
  const char* const leave_out =
      "write a constraint such as \"~> 1.2\" or \">= 1.2.0, < 2.0.0\", or leave the argument out";
  const Row rows[] = {
      {"empty", "", "\"\" is not a version constraint: expected at least one version", leave_out},
      {"blank", "  ", "\"  \" is not a version constraint: expected at least one version", leave_out},
      {"trailing comma", ">= 1.0,", item_message(">= 1.0,", ""), example},
      {"doubled comma", "1.0,,2.0", item_message("1.0,,2.0", ""), example},
      {"wildcard", "1.x", item_message("1.x", "1.x"), example},
      {"operator alone", ">=", item_message(">=", ">="), example},
      {"unknown operator", "=> 1.0", item_message("=> 1.0", "=> 1.0"), example},
      {"caret", "^1.0", item_message("^1.0", "^1.0"), example},
      {"tilde", "~1.0", item_message("~1.0", "~1.0"), example},
      {"no comma", ">= 1.0 < 2.0", item_message(">= 1.0 < 2.0", ">= 1.0 < 2.0"), example},
      {"alternatives", "1.0 || 2.0", item_message("1.0 || 2.0", "1.0 || 2.0"), example},
      {"second item", ">= 1.0, latest", item_message(">= 1.0, latest", "latest"), example},
      {"line end", "a\nb", item_message("a b", "a b"), example},
      {"commit", "8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807",
       "\"8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807\" is not a version constraint: expected versions, found a commit",
       "a commit is a separate kind of constraint and cannot be combined with versions"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ModuleConstraint::parse(row.text);
      BOOST_REQUIRE(!parsed.has_value());
      BOOST_TEST(to_string(parsed.error().code) == "CONSTRAINT_SYNTAX");
      BOOST_TEST(parsed.error().message == row.message);
      BOOST_TEST(parsed.error().hint == row.hint);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
