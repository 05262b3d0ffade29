#include "plugin/hcl/value.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "plugin/hcl/parser.h"
#include "tests/plugin/hcl/tree_shape.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;

std::string value_text(const Value& value) {
  if (value.is_null()) return "null";
  if (const std::string* text = value.as_string()) return "'" + *text + "'";
  if (const bool* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<NumberValue>(&value.data)) return number->text;
  std::string out;
  if (const TupleValue* items = value.as_tuple()) {
    for (const Value& item : *items) out += value_text(item) + ",";
    return "[" + out + "]";
  }
  for (const auto& [key, item] : std::get<ObjectValue>(value.data)) out += key + "=" + value_text(item) + ",";
  return "{" + out + "}";
}

ParsedFile parse(std::string_view text) {
  ParsedFile file = parse_native("a = " + std::string(text), "main.tf");
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  return file;
}

BOOST_AUTO_TEST_SUITE(value)

BOOST_AUTO_TEST_CASE(static_values) {
  struct Row {
    const char* name;
    const char* text;
    const char* value;
  };
  const Row rows[] = {
      {"null", "null", "null"},
      {"bool", "true", "true"},
      {"number as written", "007.50", "007.50"},
      {"negative number", "-1", "-1"},
      {"string", "\"a\\tb\"", "'a\tb'"},
      {"empty string", "\"\"", "''"},
      {"heredoc", "<<-E\n  x\n  y\n  E\n", "'x\ny\n'"},
      {"string is normalised", "\"e\xCC\x81\"", "'\xC3\xA9'"},
      {"parentheses", "(\"x\")", "'x'"},
      {"tuple", "[1, \"x\", [null]]", "[1,'x',[null,],]"},
      {"object", "{ a = 1, \"b c\" = true, 3 = {}, (\"d\") = [] }", "{a=1,b c=true,3={},d=[],}"},
      {"equal keys are both kept", "{ a = 1, a = 2 }", "{a=1,a=2,}"},
      {"words of the language as keys", "{ null = 1 }", "{null=1,}"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse(row.text);
      const Expression& expression = file.body.attributes.at(0).value;
      const auto value = static_value(expression, "main.tf");
      BOOST_TEST_REQUIRE(value.has_value());
      BOOST_TEST(value_text(*value) == row.value);
      BOOST_TEST((value->range == expression.range));
    }
  }
}

BOOST_AUTO_TEST_CASE(dynamic_parts_are_named) {
  struct Row {
    const char* name;
    const char* text;
    const char* error;
  };
  const std::string hint = " (write the value itself: no variables, functions or operators)";
  const Row rows[] = {
      {"variable", "b", "main.tf:1:5-1:6 expected a literal value, found a reference to \"b\""},
      {"traversal", "var.x", "main.tf:1:5-1:10 expected a literal value, found a reference"},
      {"interpolation", "\"x${b}\"", "main.tf:1:7-1:11 expected a literal value, found an interpolation"},
      {"interpolation alone", "\"${\"b\"}\"", "main.tf:1:6-1:12 expected a literal value, found an interpolation"},
      {"directive", "\"%{ if b }%{ endif }\"", "main.tf:1:6-1:25 expected a literal value, found a template directive"},
      {"call", "[1, f()]", "main.tf:1:9-1:12 expected a literal value, found a call of the function \"f\""},
      {"operator", "1 + 2", "main.tf:1:5-1:10 expected a literal value, found an operator"},
      {"not", "!true", "main.tf:1:5-1:10 expected a literal value, found an operator"},
      {"condition", "b ? 1 : 2", "main.tf:1:5-1:14 expected a literal value, found a condition"},
      {"index", "b[0]", "main.tf:1:5-1:9 expected a literal value, found an index"},
      {"splat", "b[*]", "main.tf:1:5-1:9 expected a literal value, found a splat"},
      {"for", "[for v in b : v]", "main.tf:1:5-1:21 expected a literal value, found a for expression"},
      {"key", "{ (b) = 1 }", "main.tf:1:8-1:9 expected a literal value, found a reference to \"b\""},
      {"key that is none", "{ ([]) = 1 }",
       "main.tf:1:7-1:11 expected a literal value, found a list as the key of an object"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse(row.text);
      const auto value = static_value(file.body.attributes.at(0).value, "main.tf");
      BOOST_TEST_REQUIRE(!value.has_value());
      BOOST_TEST(to_string(value.error().code) == "CONFIG_NON_STATIC");
      BOOST_TEST(test::to_line(value.error()) == row.error + hint);
    }
  }
}

BOOST_AUTO_TEST_CASE(static_strings) {
  const ParsedFile text = parse("\"x\"");
  const auto value = static_string(text.body.attributes.at(0).value, "main.tf", "the source", Code::source_invalid);
  BOOST_TEST_REQUIRE(value.has_value());
  BOOST_TEST(*value == "x");

  struct Row {
    const char* text;
    const char* found;
  };
  const Row rows[] = {{"null", "null"}, {"true", "a bool"}, {"1", "a number"}, {"[]", "a list"}, {"{}", "an object"}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const ParsedFile file = parse(row.text);
      const auto wrong = static_string(file.body.attributes.at(0).value, "main.tf", "the source", Code::source_invalid);
      BOOST_TEST_REQUIRE(!wrong.has_value());
      BOOST_TEST(to_string(wrong.error().code) == "SOURCE_INVALID");
      BOOST_TEST(wrong.error().message == std::string("expected the source to be a string, found ") + row.found);
      BOOST_TEST((wrong.error().location->range == file.body.attributes.at(0).value.range));
    }
  }

  const ParsedFile dynamic = parse("var.x");
  const auto failed = static_string(dynamic.body.attributes.at(0).value, "main.tf", "the source", Code::source_invalid);
  BOOST_TEST_REQUIRE(!failed.has_value());
  BOOST_TEST(to_string(failed.error().code) == "CONFIG_NON_STATIC");
  BOOST_TEST(failed.error().notes.at(0) == "while reading the source");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
