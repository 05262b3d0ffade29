#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock;
using namespace modlock::eval;
using namespace modlock::test;

// [0, 1, 2, …] as a tuple
Value numbers(std::int64_t count) {
  Value::Items items;
  for (std::int64_t i = 0; i < count; ++i) items.push_back(Value::number(i));
  return Value::tuple(std::move(items));
}

// A value that is small in memory and has 2^doublings leaves.
Value doubled(int doublings) {
  Value value = Value::boolean(true);
  for (int i = 0; i < doublings; ++i) value = Value::tuple({value, value});
  return value;
}

Value nested(std::size_t levels) {
  Value value = Value::boolean(true);
  for (std::size_t i = 0; i < levels; ++i) value = Value::tuple({value});
  return value;
}

Result<Value> evaluate_with(std::string_view text, Value value) {
  FakeScope scope({{"x", std::move(value)}});
  return evaluate_text(text, scope);
}

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(beyond_them) {
  struct Case {
    const char* name;
    const char* text;
    Value x;
    const char* message;
  };
  const Case rows[] = {
      {"steps, also in try", "try([for a in var.x: ((((((((((((((((((((1)))))))))))))))))))) if false || true], 1)",
       numbers(200'000), "this expression takes more than 4000000 steps to compute"},
      {"elements",
       "[for a in range(1000): range(1020)]",
       {},
       "this expression makes a value of more than 1000000 elements"},
      {"elements that are not kept",
       "[for a in range(1000): range(1020) == 1]",
       {},
       "this expression makes a value of more than 1000000 elements"},
      {"elements of a value from elsewhere", "var.x == var.x", doubled(40),
       "this expression makes a value of more than 1000000 elements"},
      {"text", "[for a in range(1000): var.x]", Value::string(std::string(100'000, 'x')),
       "this expression makes more than 67108864 bytes of text"},
      {"text of a template", R"("%{ for a in range(1000) }${var.x}%{ endfor }")",
       Value::string(std::string(100'000, 'x')), "this expression makes more than 67108864 bytes of text"},
      {"nesting", "[var.x]", nested(kMaxNesting - 1), "this value is nested deeper than 1000 levels"},
      {"sum", "1e1200 * 1e1200", {}, "the result of this operation is infinite or too large to compute with"},
      {"division by zero", "can(1 / 0)", {}, "the result of this operation is infinite or too large to compute with"},
      {"number", "1e999999999", {}, "this number is too large or too small to compute with"},
  };
  for (const Case& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Result<Value> result = evaluate_with(row.text, row.x);
      BOOST_TEST_REQUIRE(!result.has_value());
      BOOST_TEST(to_string(result.error().code) == "LIMIT_EXCEEDED");
      BOOST_TEST(result.error().message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(within_them) {
  BOOST_TEST(evaluate_with("[for a in range(900): range(900)]", {}).has_value());
  BOOST_TEST(evaluate_with("var.x == var.x", doubled(18)).has_value());
  BOOST_TEST(evaluate_with("[var.x]", nested(kMaxNesting - 2)).has_value());
}

std::string in_brackets(std::string text, int times) {
  for (int i = 0; i < times; ++i) text = "[" + text + "][0]";
  return text;
}

// What the parser takes at most, and that in templates: each level of brackets is two of expressions.
BOOST_AUTO_TEST_CASE(the_deepest_trees) {
  std::string sum = "0";
  for (int i = 0; i < 1000; ++i) sum += " + 1";
  BOOST_TEST(show(evaluate_text(sum)) == "1000");
  FakeScope scope({{"x", Value::string("${" + in_brackets("templatefile(\"4\", {})", 120) + "}")}},
                  {{"1", "${" + in_brackets("0", 120) + "}"},
                   {"2", "${" + in_brackets("templatefile(\"1\", {})", 120) + "}"},
                   {"3", "${" + in_brackets("templatefile(\"2\", {})", 120) + "}"},
                   {"4", "${" + in_brackets("templatefile(\"3\", {})", 120) + "}"}});
  BOOST_TEST(show(evaluate_text("templatestring(var.x, {})", scope)) == "0");
  const std::string beyond = in_brackets("templatestring(var.x, {})", 120);
  BOOST_TEST(show(evaluate_text(beyond, scope)).ends_with("nested deeper than 1300 levels"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
