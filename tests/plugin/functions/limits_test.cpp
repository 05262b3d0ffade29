#include <boost/test/unit_test.hpp>

#include "plugin/value/value.h"
#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {
namespace {

struct LimitRow {
  const char* name;
  const char* function;
  std::vector<Value> arguments;
};

Value text(std::size_t size, char character = 'x') {
  return Value::string(std::string(size, character));
}

Value numbers(std::size_t count) {
  return Value::list(Type::number(), Value::Items(count, Value::number(std::int64_t{1})));
}

// A tuple of two of itself, `depth` deep: 2^depth leaves that take the room of one.
Value doubled(std::size_t depth, Value value = Value::tuple({})) {
  for (std::size_t i = 0; i < depth; ++i) {
    value = Value::tuple({value, value});
  }
  return value;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_grows_beyond_the_limits) {
  const Value half = text(kMaxTextBytes / 2 + 1);
  const std::vector<LimitRow> rows = {
      {"join", "join", {text(1), Value::list(Type::string(), {half, half})}},
      {"join with a long separator", "join", {half, Value::list(Type::string(), Value::Items(4, text(0)))}},
      {"format", "format", {Value::string("%s%s"), half, half}},
      {"format with a wide verb", "format", {Value::string("%100000000d"), Value::number(std::int64_t{1})}},
      {"format with a width beyond all numbers",
       "format",
       {Value::string("%99999999999999999999s"), Value::string("a")}},
      {"format with a long precision", "format", {Value::string("%.100000000f"), Value::number(std::int64_t{1})}},
      {"formatlist", "formatlist", {Value::string("%s%s"), Value::list(Type::string(), {half}), half}},
      {"formatlist of many", "formatlist", {Value::string("%s"), Value::list(Type::string(), {half, half})}},
      {"indent", "indent", {Value::number(std::int64_t{100'000'000}), Value::string("a\nb")}},
      {"replace", "replace", {text(1000), text(1), text(100'000)}},
      {"replace by a pattern", "replace", {text(1000), Value::string("/x/"), text(100'000)}},
      {"replace between characters", "replace", {text(1000), text(0), text(100'000)}},
      {"jsonencode of what is doubled", "jsonencode", {doubled(60, text(1000))}},
      {"split", "split", {text(1), text(kMaxElements + 1)}},
      {"regexall", "regexall", {text(1), text(kMaxElements + 1)}},
      {"regexall that looks ahead", "regexall", {Value::string("(?:x.*y)|x"), text(40'000)}},
      {"regexall with groups", "regexall", {Value::string("(x)(x)(x)(x)"), text(100'000)}},
      {"replace that looks ahead", "replace", {text(40'000), Value::string("/(?:x.*y)|x/"), text(0)}},
      {"concat", "concat", {numbers(kMaxElements), numbers(1)}},
      {"flatten", "flatten", {Value::tuple({numbers(kMaxElements), numbers(1)})}},
      {"flatten of what is doubled", "flatten", {doubled(60)}},
      {"setproduct", "setproduct", {numbers(1000), numbers(1000)}},
      {"setproduct of many", "setproduct", std::vector<Value>(64, numbers(2))},
      {"parseint", "parseint", {text(5000, 'f'), Value::number(std::int64_t{16})}},
      {"jsondecode", "jsondecode", {Value::string(std::string(300, '[') + std::string(300, ']'))}},
      {"yamldecode",
       "yamldecode",
       {Value::string("a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                      "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                      "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n")}},
  };
  for (const LimitRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const FunctionResult result = call(row.function, row.arguments, FakeFiles());
      BOOST_REQUIRE(!result);
      BOOST_TEST((result.error().code == Code::limit_exceeded), result.error().message);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pattern_has_at_most_250_groups) {
  const auto matched = [](std::size_t groups) {
    std::string pattern;
    for (std::size_t i = 0; i < groups; ++i) {
      pattern += "(x?)";
    }
    return call("regexall", {Value::string(pattern), Value::string("x")}, FakeFiles());
  };
  BOOST_TEST(matched(250).has_value());
  BOOST_TEST(outcome("regexall", matched(251)) == "error pattern: invalid regexp pattern: more than 250 groups in (…");
}

BOOST_AUTO_TEST_CASE(no_message_shows_what_is_sensitive) {
  const Row rows[] = {
      {"tobool", "tobool", R"(["secret"])",
       R"(error v: cannot convert (sensitive value) to bool; only the strings "true" or "false" are allowed)"},
      {"tonumber", "tonumber", R"(["secret"])",
       "error v: cannot convert (sensitive value) to number; given string must be a decimal representation of a "
       "number"},
      {"lookup", "lookup", R"([{"a":1},"secret"])",
       "error inputMap: the given object has no attribute (sensitive value)"},
      {"parseint", "parseint", R"(["secret",10])",
       "error number: cannot parse (sensitive value) as a base (sensitive value) integer"},
      {"regex", "regex", R"(["secret[","x"])",
       "error pattern: invalid regexp pattern: missing closing ] in (sensitive value)"},
      {"replace", "replace", R"(["x","/secret[/","x"])",
       "error: error parsing regexp: missing closing ]: (sensitive value)"},
      {"base64decode", "base64decode", R"(["secret!"])", "error: failed to decode base64 data (sensitive value)"},
      {"uuidv5", "uuidv5", R"(["secret","x"])", "error: uuidv5() doesn't support namespace (sensitive value)"},
      {"file", "file", R"(["../secret"])", "error path: the file (sensitive value) cannot be read"},
      {"csvdecode", "csvdecode", R"(["secret,secret"])", "error: the text is not what the function reads"},
      {"jsondecode", "jsondecode", R"(["{\"secret\":1,\"secret\":\"x\"}"])",
       "error: the text is not what the function reads"},
      {"yamldecode", "yamldecode", R"(["a: !!int secret"])", "error: the text is not what the function reads"},
      {"format", "format", R"(["%zsecret%",1])", "error: the format or its arguments are wrong"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(row.function, call(row.function, values(row.arguments), FakeFiles(), false)) == row.expected);
    }
  }
}

}  // namespace modlock::eval::test
