#include "plugin/hcl/json_string.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "plugin/hcl/json_syntax.h"
#include "tests/plugin/hcl/tree_shape.h"
#include "tests/plugin/hcl/tree_walk.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;
using test::repeat;
using test::show;

using Read = Result<Expression> (*)(const Expression&, const std::string&);

// `json` is the string as written, quotes included.
std::string shape_of(const std::string& json, Read read) {
  const ParsedFile file = parse_json("{\"a\":" + json + "}", "f", {});
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  const auto result = read(file.body.attributes.at(0).value, "f");
  return result ? test::shape(*result) : test::to_line(result.error());
}

struct Row {
  const char* name;
  std::string json;
  const char* shape;
};

template <std::size_t size>
void check(const Row (&rows)[size], Read read) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shape_of(row.json, read) == row.shape);
    }
  }
}

BOOST_AUTO_TEST_SUITE(json_string)

BOOST_AUTO_TEST_CASE(templates) {
  check(
      {
          {"empty", R"("")", "string[]"},
          {"plain", R"("x y")", "string['x y']"},
          {"quotes and backslashes are text", R"("\\n \"x\" \\")", "string['\\n \"x\" \\']"},
          {"line ends are text", R"("a\nb\r\nc\rd")", "string['a\nb\r\nc\rd']"},
          {"heredoc outside of an interpolation is text", R"("<<E\nx\nE\n")", "string['<<E\nx\nE\n']"},
          {"comment signs are text", R"("# // /*")", "string['# // /*']"},
          {"interpolation alone", R"("${var.a}")", "(. var a)"},
          {"interpolation alone with blanks", R"("${ [1] }")", "(tuple 1)"},
          {"interpolation alone with strip markers", R"("${~ a ~}")", "a"},
          {"interpolation and text", R"("x${a}y")", "string['x' {a} 'y']"},
          {"interpolation and a blank", R"("${a} ")", "string[{a} ' ']"},
          {"two interpolations", R"("${a}${b}")", "string[{a} {b}]"},
          {"escaped", R"("$${a} %%{b}")", "string['${a} %{b}']"},
          {"more signs", R"("$$${a} $ % $$")", "string['$${a} $ % $$']"},
          {"directive", R"("%{ if a }x%{ else }y%{ endif }")", "string[if(a | 'x' | 'y')]"},
          {"loop", R"("%{ for a in b }${a}%{ endfor }")", "string[for(,a in b | {a})]"},
          {"strings within", R"("${a[\"b\"]}${\"c\\n${d}\"}")", "string[{(index a string['b'])} {string['c\n' {d}]}]"},
          {"heredoc within", R"("${<<E\nx\nE\n}")", "heredoc['x\n']"},
          {"lines within", R"("${\n a\n .b\n}")", "(. a b)"},
          {"strip markers take one line", R"("a\n  ${~ b ~} \n  c")", "string['a\n' {b} '  c']"},
          {"sign before the blanks that are stripped", R"("$ ${~ b}")", "string['$' {b}]"},
          {"characters of escapes", R"("\u00e9\ud83d\ude00${a}")", "string['é😀' {a}]"},
      },
      template_of);
}

BOOST_AUTO_TEST_CASE(expressions) {
  check(
      {
          {"name", R"("a")", "a"},
          {"reference", R"("aws.west")", "(. aws west)"},
          {"index", R"("module.a[\"b\"].c")", "(. (index (. module a) string['b']) c)"},
          {"call", R"s("list(string)")s", "(call list string)"},
          {"blanks and comments around", R"(" \n a /* b */ # c")", "a"},
          {"lines within", R"("a\n.b")", "(. a b)"},
          {"list over lines", R"("[\na\n,b]")", "(tuple a b)"},
          {"object", R"("{a = \"x\"\n b = 1}")", "(object bare:a=string['x'] bare:b=1)"},
      },
      expression_of);
}

BOOST_AUTO_TEST_CASE(errors) {
  check(
      {
          {"unclosed interpolation", R"("x\n${a")",
           "f:1:10-1:12 \"${\" is never closed: expected \"}\" to end the interpolation before the end of the string"},
          {"empty interpolation", R"("\t${}")", "f:1:11-1:12 expected a value, found \"}\""},
          {"text behind the expression", R"("\u00e9${a b}")",
           "f:1:17-1:18 expected \"}\" to end the interpolation, found \"b\" (write $${ for a \"${\" that is plain "
           "text)"},
          {"bad escape in a string within", R"("\n${\"é\\n\\q\"}")",
           "f:1:17-1:20 expected one of \\n \\r \\t \\\" \\\\ \\uXXXX \\UXXXXXXXX behind a backslash, found \"\\q\" "
           "(write \\\\ for one backslash)"},
          {"unclosed string within", R"("${\"a}")",
           "f:1:9-1:11 the string that starts here has no closing quotation mark on its line (close the string, or "
           "write several lines as a heredoc (<<EOT) or with \\n)"},
          {"unended directive", R"("%{ if a }")",
           "f:1:7-1:16 the directive that starts here is never ended: expected %{ endif }"},
          {"wrong end", R"("%{ if a }\n%{ endfor }")",
           "f:1:18-1:29 expected %{ endif } before this directive (the if on line 1 is still open)"},
      },
      template_of);
  check(
      {
          {"empty", R"("")", "f:1:7-1:7 expected a value, found the end of the string"},
          {"two expressions", R"("a b")",
           "f:1:9-1:10 expected the end of the string behind the expression, found \"b\""},
          {"open bracket", R"("\n[a")",
           "f:1:9-1:10 \"[\" is never closed: expected \",\" or \"]\" behind an item of the list before the end of "
           "the "
           "string"},
          {"interpolation", R"("${a}")", "f:1:7-1:8 the character \"$\" means nothing outside of strings and comments"},
          {"unclosed heredoc", R"("<<E\nx")",
           "f:1:7-1:12 the heredoc that starts here has no closing line: expected a line with only \"E\" (nothing "
           "but "
           "blanks may stand beside the closing marker, and its line must end with a line break)"},
      },
      expression_of);
  for (const Read read : {&template_of, &expression_of}) {
    const ParsedFile file = parse_json("{\"a\": \"${" + repeat("[", 300) + "\"}", "f", {});
    const auto result = read(file.body.attributes.at(0).value, "f");
    BOOST_TEST_REQUIRE(!result.has_value());
    BOOST_TEST(to_string(result.error().code) == (read == &template_of ? "LIMIT_EXCEEDED" : "CONFIG_PARSE"));
  }
}

BOOST_AUTO_TEST_CASE(ranges) {
  const std::string text = "{\n \"a\" : \"é\\n${\\u0061.b[\\\"\\ud83d\\ude00\\\"]}\"}";
  const ParsedFile file = parse_json(text, "f", {});
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  const auto result = template_of(file.body.attributes.at(0).value, "f");
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST(show(text, result->range) == "2:8-2:42 \"é\\n${\\u0061.b[\\\"\\ud83d\\ude00\\\"]}\"");
  const auto& parts = std::get<Template>(result->node).parts;
  BOOST_TEST_REQUIRE(parts.size() == 2U);
  BOOST_TEST(show(text, parts[0].range) == "2:9-2:12 é\\n");
  BOOST_TEST(show(text, parts[1].range) == "2:12-2:41 ${\\u0061.b[\\\"\\ud83d\\ude00\\\"]}");
  const auto& index = std::get<Index>(std::get<ExpressionPtr>(parts[1].what)->node);
  BOOST_TEST(show(text, index.operand->range) == "2:14-2:22 \\u0061.b");
  BOOST_TEST(show(text, std::get<GetAttribute>(index.operand->node).name_range(index.operand->range)) == "2:21-2:22 b");
  BOOST_TEST(show(text, index.key->range) == "2:23-2:39 \\\"\\ud83d\\ude00\\\"");

  const auto alone = template_of(parse_json("{\"a\": \"${b}\"}", "f", {}).body.attributes.at(0).value, "f");
  BOOST_TEST_REQUIRE(alone.has_value());
  BOOST_TEST((alone->range == Range{{1, 10, 9}, {1, 11, 10}}));
}

BOOST_AUTO_TEST_CASE(long_strings) {
  const Row rows[] = {
      {"text", repeat("x", 2'000'000), ""},
      {"escapes", repeat("\\n", 1'000'000), ""},
      {"interpolations", repeat("\\t${a}", 50'000), ""},
      {"combining marks", "e" + repeat("\\u0301", 200'000), ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_json("{\"a\": \"" + row.json + "\"}", "f", {});
      BOOST_TEST(template_of(file.body.attributes.at(0).value, "f").has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
