#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/plugin/hcl/tree_shape.h"

namespace {

using modlock::hcl::test::shape_of_value;

BOOST_AUTO_TEST_SUITE(parser_expression)

struct Row {
  const char* name;
  const char* text;
  const char* shape;
};

template <std::size_t size>
void check(const Row (&rows)[size]) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shape_of_value(row.text) == row.shape);
    }
  }
}

BOOST_AUTO_TEST_CASE(terms) {
  check({
      {"number", "42", "42"},
      {"number with leading zeros", "007", "007"},
      {"fraction and exponent", "1.5e-3", "1.5e-3"},
      {"more digits than any machine number", "123456789012345678901234567890.5", "123456789012345678901234567890.5"},
      {"true", "true", "true"},
      {"false", "false", "false"},
      {"null", "null", "null"},
      {"variable", "foo", "foo"},
      {"a minus after a letter belongs to the name", "x-1", "x-1"},
      {"a minus after a blank does not", "x -1", "(- x 1)"},
      {"words of the language are names elsewhere", "for", "for"},
      {"parentheses", "(1)", "(paren 1)"},
      {"parentheses over lines", "(\n1\n)", "(paren 1)"},
      {"comments in parentheses", "( # c\n1 /* c\n */ // c\n)", "(paren 1)"},
  });
}

BOOST_AUTO_TEST_CASE(operators) {
  check({
      {"unary minus", "-a.b", "(neg (. a b))"},
      {"not binds tighter than ==", "!a == b", "(== (not a) b)"},
      {"several signs", "!-!a", "(not (neg (not a)))"},
      {"left to right", "1 - 2 - 3", "(- (- 1 2) 3)"},
      {"times before plus", "1 + 2 * 3 + 4", "(+ (+ 1 (* 2 3)) 4)"},
      {"all levels, low to high", "a || b && c == d < e + f * g", "(|| a (&& b (== c (< d (+ e (* f g))))))"},
      {"all levels, high to low", "a * b + c < d == e && f || g", "(|| (&& (== (< (+ (* a b) c) d) e) f) g)"},
      {"comparisons", "a <= b != c >= d", "(!= (<= a b) (>= c d))"},
      {"divide and modulo", "a / b % c", "(% (/ a b) c)"},
      {"condition", "a ? b : c", "(? a b c)"},
      {"conditions nest on the right", "a ? b : c ? d : e", "(? a b (? c d e))"},
      {"condition in a condition", "a ? b ? c : d : e", "(? a (? b c d) e)"},
      {"condition over an operator", "a || b ? c + d : e", "(? (|| a b) (+ c d) e)"},
  });
}

BOOST_AUTO_TEST_CASE(postfix) {
  check({
      {"names", "a.b.c", "(. (. a b) c)"},
      {"blanks before and after the dot", "a . b", "(. a b)"},
      {"index", "a[0]", "(index a 0)"},
      {"index with a string", "a[\"x\"].b", "(. (index a string['x']) b)"},
      {"index over lines", "a[\n0\n]", "(index a 0)"},
      {"legacy index", "a.0.b", "(. (legacy a 0) b)"},
      {"attribute splat", "a.*.b.c", "(.* a (. (. @ b) c))"},
      {"an index applies to the whole attribute splat", "a.*.b[0]", "(index (.* a (. @ b)) 0)"},
      {"full splat takes all that follows", "a[*].b[0].c", "([*] a (. (index (. @ b) 0) c))"},
      {"blanks in a full splat", "a[ * ].b", "([*] a (. @ b))"},
      {"line ends are free round a star in brackets", "(a[\n*\n].b)", "(paren ([*] a (. @ b)))"},
      {"a bracket closes on the line of its star", "a[*\n].b",
       "error: expected \"]\" after the index, found the end of the line"},
      {"a star stands on the line of its bracket", "a[\n*]", "error: expected a value, found \"*\""},
      {"splat in a full splat", "a[*].b[*].c", "([*] a ([*] (. @ b) (. @ c)))"},
      {"a literal has members too", "\"x\".y", "(. string['x'] y)"},
      {"a parenthesis too", "(a)[0]", "(index (paren a) 0)"},
      {"two numbers are one token", "a.0.0", "error: expected one whole number as index after \".\", found \"0.0\""},
      {"splat in an attribute splat", "a.*.*", "error: expected an attribute name, found \"*\""},
  });
}

BOOST_AUTO_TEST_CASE(calls) {
  check({
      {"no argument", "f()", "(call f)"},
      {"arguments", "f(1, b)", "(call f 1 b)"},
      {"trailing comma", "f(1,)", "(call f 1)"},
      {"over lines", "f(\n1,\nb\n)", "(call f 1 b)"},
      {"expanded", "f(a, b...)", "(call f a b...)"},
      {"namespaces", "a::b::c(1)", "(call a::b::c 1)"},
      {"blank before the parenthesis", "f (1)", "(call f 1)"},
      {"a function may be named true", "true()", "(call true)"},
      {"nothing after an expansion", "f(a..., b)", "error: expected \")\" after \"...\", found \",\""},
      {"a namespace is no value", "a::b",
       "error: expected \"(\" after the function name \"a::b\", found the end of the "
       "file"},
  });
}

BOOST_AUTO_TEST_CASE(tuples_and_objects) {
  check({
      {"empty tuple", "[]", "(tuple)"},
      {"tuple with a trailing comma", "[1, 2,]", "(tuple 1 2)"},
      {"tuple over lines", "[\n  1, # one\n  2\n]", "(tuple 1 2)"},
      {"a line end is no comma", "[1\n2]", "error: expected \",\" or \"]\" after an item of the list, found \"2\""},
      {"a bracket on the next line is an index", "[l\n[0]]", "(tuple (index l 0))"},
      {"empty object", "{}", "(object)"},
      {"object on lines", "{\n  a = 1\n  b = 2\n}", "(object bare:a=1 bare:b=2)"},
      {"object with commas", "{ a = 1, b : 2, }", "(object bare:a=1 bare:b=2)"},
      {"words of the language as keys", "{ true = 1, in = 2, if = 3 }", "(object bare:true=1 bare:in=2 bare:if=3)"},
      {"other keys", "{ \"a b\" = 1, 1 = 2, (c) = 3 }", "(object string['a b']=1 1=2 (paren c)=3)"},
      {"a dotted key is an expression", "{ a.b = 1 }", "(object (. a b)=1)"},
      {"line ends count in objects within brackets", "({ a = 1\nb = 2 })", "(paren (object bare:a=1 bare:b=2))"},
      {"a value starts on the line of its key", "{ a =\n1 }",
       "error: expected the value of the key, found the end of the line"},
      {"an equal sign stands on the line of its key", "{ a\n= 1 }",
       "error: expected \"=\" or \":\" after a key of the object, found the end of the line"},
      {"a comma leads no line", "{ a = 1\n, b = 2 }", "error: expected a key or \"}\", found \",\""},
      {"two items need something between them", "{ a = 1 b = 2 }",
       "error: expected \",\", the end of the line or \"}\" after an item of the object, found \"b\""},
  });
}

BOOST_AUTO_TEST_CASE(for_expressions) {
  check({
      {"tuple", "[for v in c : v]", "(for ,v in c : v)"},
      {"tuple with key and condition", "[for k, v in c : k if v]", "(for k,v in c : k if v)"},
      {"object", "{for k, v in c : k => v}", "(for k,v in c : k => v)"},
      {"object with grouping and condition", "{for v in c : v => v... if v}", "(for ,v in c : v => v... if v)"},
      {"over lines", "{\n  for k, v in c :\n  k => v\n  if v\n}", "(for k,v in c : k => v if v)"},
      {"for comes right behind the bracket", "[1, for]", "(tuple 1 for)"},
      {"a key named for needs quotes", "{ for = 1 }",
       "error: expected the name of a variable after \"for\", found \"=\""},
      {"key in brackets", "[for v in c : v => v]", "error: expected \"if\" or \"]\", found \"=>\""},
      {"no key in braces", "{for v in c : v}",
       "error: expected \"=>\" after the key of a \"for\" in braces, found \"}\""},
      {"grouping in brackets", "[for v in c : v...]", "error: expected \"if\" or \"]\", found \"...\""},
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
