#include "plugin/value/value.h"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "tests/plugin/value/notation.h"

namespace {

using namespace modlock::eval;
using modlock::test::notation;
using modlock::test::value_of;

BOOST_AUTO_TEST_SUITE(value)

// As tolist(toset(…)) of OpenTofu shows it.
BOOST_AUTO_TEST_CASE(sets_are_in_order) {
  struct Row {
    const char* name;
    const char* items;
    const char* element;
    const char* shown;
  };
  const Row rows[] = {
      {"strings bytewise", R"(["b", "a", "B", "é", "a"])", "string", "[['B','a','b','é']]"},
      {"numbers by size", "[10, 9, 1.5, -1, 9]", "number", "[[-1,1.5,9,10]]"},
      {"bools", "[true, false, true]", "bool", "[[false,true]]"},
      {"null is last", R"([null, "z", null])", "string", "[['z',null:string]]"},
      {"objects", R"([{a="b"}, {a="a"}, {a=10}, {a=9}])", "object({a=string})", "[[<a='10'>,<a='9'>,<a='a'>,<a='b'>]]"},
      {"lists", "[[10], [9], [100]]", "list(number)", "[[[100],[10],[9]]]"},
      {"equal texts of unequal numbers", "[[1.00000000001], [1], [1.00000000001]]", "list(number)",
       "[[[1],[1.00000000001]]]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(notation(value_of(row.items, "set(" + std::string(row.element) + ")")) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(texts_are_normalised) {
  BOOST_TEST(notation(Value::string("e\xCC\x81")) == "'\xC3\xA9'");
  BOOST_TEST(notation(Value::object({{"e\xCC\x81", Value()}})) == "<\xC3\xA9=null:any>");
  BOOST_TEST(notation(Value::map(Type::number(), {{"e\xCC\x81", Value()}})) == "{\xC3\xA9=null:number}");
}

BOOST_AUTO_TEST_CASE(equality) {
  BOOST_TEST(value_of(R"({a = [1, "x"]})").equals(value_of(R"({a = [1.0, "x"]})")));
  BOOST_TEST(!value_of("[1]").equals(value_of("[1, 1]")));
  BOOST_TEST(!value_of("[1]").equals(value_of("[1]", "list(number)")));
  BOOST_TEST(!value_of("{a = 1}", "map(number)").equals(value_of("{b = 1}", "map(number)")));
  BOOST_TEST(Value::null(Type::string()).equals(Value::null(Type::string())));
  BOOST_TEST(!Value::null(Type::string()).equals(Value::null(Type::number())));
  BOOST_TEST(Value::string("a").with_marks({.sensitive = true}).equals(Value::string("a")));
}

BOOST_AUTO_TEST_CASE(marks) {
  const Value secret = Value::string("a").with_marks({.sensitive = true});
  const Value tuple = Value::tuple({secret, Value::number(1)});
  BOOST_TEST(notation(tuple) == "('a' sensitive,1)");
  BOOST_TEST(!tuple.marks().any());
  BOOST_TEST(tuple.deep_marks().sensitive);
  BOOST_TEST(!tuple.deep_marks().ephemeral);
  BOOST_TEST(notation(tuple.with_marks({.ephemeral = true}).without_marks()) == "('a',1)");
  BOOST_TEST(!tuple.without_marks().deep_marks().any());
  BOOST_TEST(notation(Value::set(Type::string(), {secret, Value::string("b")})) == "[['a','b']] sensitive");
  BOOST_TEST(notation(Value::object({{"x", tuple}}).without_marks()) == "<x=('a',1)>");
}

BOOST_AUTO_TEST_CASE(weight) {
  BOOST_TEST(Value().weight() == 1U);
  BOOST_TEST(value_of("{a = [1, 2], b = []}").weight() == 5U);
  Value doubled = Value::number(1);
  for (int i = 0; i < 100; ++i) doubled = Value::tuple({doubled, doubled});
  BOOST_TEST(doubled.weight() == std::numeric_limits<std::size_t>::max());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
