#include "plugin/eval/evaluate.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/scope_setup.h"

using namespace modlock;
using namespace modlock::test;

namespace {

std::string evaluate(const FileTexts& files) {
  const auto texts = config_texts(files);
  const ConfigText& file = texts.front();
  return show(eval::constant_value(file.parsed.body.attributes.front().value, file.json, file.path));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constant_values)

BOOST_AUTO_TEST_CASE(native_syntax) {
  struct Row {
    const char* name;
    std::string_view expression;
    std::string_view value;
  };
  const auto call = [](std::string_view place) {
    return "CONFIG_PARSE a.tf:" + std::string(place) +
           ": function calls not allowed: expected a literal value, found f()\n  hint: write a literal value";
  };
  const std::string calls[] = {call("1:5"),  call("1:6"),  call("1:8"),  call("1:9"),  call("1:11"), call("1:13"),
                               call("1:15"), call("1:20"), call("1:21"), call("1:22"), call("1:29")};
  const Row rows[] = {
      {"values", "[\"a\", 1, true, null, { b = -2 }]", "[\"a\", 1, true, null, {b = -2}]"},
      {"operators", "1 + 2 == 3 ? \"y\" : \"n\"", "\"y\""},
      {"for and splat", "[for v in [{ a = 1 }][*].a : v + 1]", "[2]"},
      {"call", "f()", calls[0]},
      {"in a tuple", "[f()]", calls[1]},
      {"in a template", "\"${f()}\"", calls[2]},
      {"in a template's if", "\"%{if f()}%{endif}\"", calls[4]},
      {"in a template's for", "\"%{for v in f()}%{endfor}\"", "CONFIG_PARSE"},
      {"in an object", "{ a = f() }", calls[4]},
      {"in a key", "{ (f()) = 1 }", calls[2]},
      {"in a for", "[for v in [1] : f()]", "CONFIG_PARSE"},
      {"negated", "-f()", calls[1]},
      {"in an operation", "1 + f()", calls[3]},
      {"in a branch", "false ? 1 : f()", "CONFIG_PARSE"},
      {"in the other branch", "true ? 1 : f()", "1"},
      {"a name in the other branch", "true ? \"a\" : var.a", "\"a\""},
      {"a name in the other part of a template", "\"%{if true}a%{else}${var.a}%{endif}\"", "\"a\""},
      {"a name for no item", "[for v in [] : var.a]", "[]"},
      {"before a dot", "f().a", calls[0]},
      {"in an index", "[1][f()]", calls[3]},
      {"before a splat", "f()[*].a", calls[0]},
      {"in parentheses", "(f())", calls[1]},
      {"a name", "var.a",
       "CONFIG_PARSE a.tf:1:5: variables not allowed: expected a literal value, found var.a\n"
       "  hint: write a literal value"},
      {"a bare name", "a",
       "CONFIG_PARSE a.tf:1:5: variables not allowed: expected a literal value, found a\n"
       "  hint: write a literal value"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string value = evaluate({{"a.tf", "a = " + std::string(row.expression) + "\n"}});
      if (row.value == "CONFIG_PARSE") {
        BOOST_TEST(value.find("function calls not allowed") != std::string::npos, value);
      } else {
        BOOST_TEST(value == row.value);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(json_syntax) {
  struct Row {
    const char* name;
    std::string_view json;
    std::string_view value;
  };
  const Row rows[] = {
      {"values", R"(["a", 1.5e1, -1, true, null, {"b": {}}])", R"(["a", 15, -1, true, null, {b = {}}])"},
      {"no templates", R"("${var.a}")", R"("${var.a}")"},
      {"nor in keys", R"({"${a}": 1})", "{${a} = 1}"},
      {"a key twice", R"({"a": 1, "a": 2})",
       "CONFIG_PARSE a.tf.json:1:16: the attribute \"a\" is defined twice in this object\n  hint: remove one of the "
       "two"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(evaluate({{"a.tf.json", "{\"a\": " + std::string(row.json) + "}"}}) == row.value);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
