#include "plugin/hcl/parser.h"

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_syntax.h"
#include "tests/plugin/hcl/tree_shape.h"
#include "tests/plugin/hcl/tree_walk.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;
using test::repeat;
using test::show;
using test::slice;

std::string outline_of(std::string_view text) {
  const ParsedFile file = parse_native(text, "main.tf");
  if (!file.diagnostics.empty()) return "error: " + file.diagnostics.front().what.message;
  return test::outline(file.body);
}

BOOST_AUTO_TEST_SUITE(parser)

BOOST_AUTO_TEST_CASE(structure) {
  struct Row {
    const char* name;
    std::string text;
    const char* outline;
  };
  const Row rows[] = {
      {"empty", "", ""},
      {"blank", " \t\n\r\n", ""},
      {"attribute without a line end", "a = 1", "a=1;"},
      {"attributes", "a = 1\nb = 2\r\n", "a=1;b=2;"},
      {"words of the language as names", "for = 1\ntrue = 2\nin = 3\n", "for=1;true=2;in=3;"},
      {"unicode name", "é名 = 1\n", "é名=1;"},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "a = 1\n",
       "a=1;"},
      {"line comments", "# a\n// b\na = 1 # c\nb = 2 // d", "a=1;b=2;"},
      {"comment over lines is a blank", "a = /* x\n */ 1\n", "a=1;"},
      {"comments do not nest", "a = /* /* */ 1\n", "a=1;"},
      {"block", "a {\n  b = 1\n}\n", "a{b=1;}"},
      {"block without a line end behind it", "a {\n}", "a{}"},
      {"comment behind a block", "a {\n} # c\nb {} // d", "a{}b{}"},
      {"labels", "a \"b\" c \"\" \"d e\" {}\n", "a<b><c><><d e>{}"},
      {"labels decode escapes", "a \"x\\ty\\u00e9$${\" {}\n", "a<x\tyé${>{}"},
      {"comments in a header", "a /* x */ \"b\" /* y */ {}\n", "a<b>{}"},
      {"block on one line", "a { b = 1 }\n", "a{b=1;}"},
      {"nested blocks", "a {\n  b \"x\" {\n    c {}\n  }\n  b \"y\" {}\n}\n", "a{b<x>{c{}}b<y>{}}"},
      {"a body with both", "a {\n  b {}\n  c = 1\n}\n", "a{c=1;b{}}"},
      {"heredoc in a block", "a {\n  b = <<E\nx\nE\n}\n", "a{b=heredoc['x\n'];}"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outline_of(row.text) == row.outline);
    }
  }
}

BOOST_AUTO_TEST_CASE(ranges_of_attributes) {
  struct Row {
    const char* name;
    std::string text;
    const char* attribute;
    const char* value;
  };
  const Row rows[] = {
      {"string with its quotes", "  a = \"x\" # c\n", "1:3-1:10 a = \"x\"", "1:7-1:10 \"x\""},
      {"parentheses", "a = (1 + 2) \n", "1:1-1:12 a = (1 + 2)", "1:5-1:12 (1 + 2)"},
      {"operator", "a = 1 + 2 * 3\n", "1:1-1:14 a = 1 + 2 * 3", "1:5-1:14 1 + 2 * 3"},
      {"call", "a = f(1)\n", "1:1-1:9 a = f(1)", "1:5-1:9 f(1)"},
      {"object over lines", "a = {\n  b = 1\n}\n", "1:1-3:2 a = {\n  b = 1\n}", "1:5-3:2 {\n  b = 1\n}"},
      {"heredoc to the end of the marker's line", "a = <<-E\n  x\n  E \nb = 1\n", "1:1-3:5 a = <<-E\n  x\n  E ",
       "1:5-3:5 <<-E\n  x\n  E "},
      {"heredoc before CRLF", "a = <<E\r\nx\r\nE\r\n", "1:1-3:2 a = <<E\r\nx\r\nE", "1:5-3:2 <<E\r\nx\r\nE"},
      {"splat", "a = b[*].c\n", "1:1-1:11 a = b[*].c", "1:5-1:11 b[*].c"},
      {"condition", "a = b ? 1 : -2\n", "1:1-1:15 a = b ? 1 : -2", "1:5-1:15 b ? 1 : -2"},
      {"behind a byte order mark",
       "\xEF\xBB\xBF"
       "a = 1\n",
       "1:1-1:6 a = 1", "1:5-1:6 1"},
      {"a tab is one column", "\ta\t=\t1\n", "1:2-1:7 a\t=\t1", "1:6-1:7 1"},
      {"columns are grapheme clusters", "a = [\"👨‍👩‍👧‍👦\", \"e\xCC\x81\"]\n",
       "1:1-1:15 a = [\"👨‍👩‍👧‍👦\", \"e\xCC\x81\"]",
       "1:5-1:15 [\"👨‍👩‍👧‍👦\", \"e\xCC\x81\"]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_native(row.text, "main.tf");
      BOOST_TEST_REQUIRE(file.diagnostics.empty());
      BOOST_TEST_REQUIRE(!file.body.attributes.empty());
      const Attribute& attribute = file.body.attributes.front();
      BOOST_TEST(show(row.text, attribute.range()) == row.attribute);
      BOOST_TEST(show(row.text, attribute.value.range) == row.value);
    }
  }
}

BOOST_AUTO_TEST_CASE(ranges_of_blocks) {
  const std::string text = "\n  module \"vpc\" x { # c\n    a = 1\n  } # d\n";
  const ParsedFile file = parse_native(text, "main.tf");
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  const Block& block = file.body.blocks.at(0);
  BOOST_TEST(show(text, block.labels.at(0).range) == "2:10-2:15 \"vpc\"");
  BOOST_TEST(show(text, block.labels.at(1).range) == "2:16-2:17 x");
  BOOST_TEST(show(text, block.header_range) == "2:3-2:17 module \"vpc\" x");
  BOOST_TEST(show(text, block.range) == "2:3-4:4 module \"vpc\" x { # c\n    a = 1\n  }");
}

BOOST_AUTO_TEST_CASE(find_answers_the_attribute_or_null) {
  const ParsedFile file = parse_native("a = 1\nb = 2\n", "main.tf");
  BOOST_TEST_REQUIRE(file.body.find("b") != nullptr);
  BOOST_TEST(file.body.find("b")->name_range.start.line == 2U);
  BOOST_TEST((file.body.find("c") == nullptr));
}

// Every range lies in its parent's, says the same by line and column as by byte, and holds what it is the range of.
BOOST_AUTO_TEST_CASE(every_range_holds_its_text) {
  const std::string text =
      "terraform {\r\n  required_version = \"~> 1.0\" # é\r\n}\r\n"
      "module \"a👨‍👩‍👧b\" {\n  source  = \"./x\"\n"
      "  version = \"1.${v.minor[0]}.%{ if a }0%{ else }${b}%{ endif }\"\n"
      "  é = { a = 1, \"b\" : [for k, v in c : v.*.x if k], (d) = e[*].f[0] }\n"
      "  x-1 = -f::g(1, h...) + (2 ? 3 : 4) /* c\n */ \n"
      "  text = <<-EOT\n    á ${ {a = \"}\"}.a }\n    %{ for x in y ~}\n  z\n    %{ endfor ~}\n  EOT\n}\n";
  const ParsedFile file = parse_native(text, "main.tf");
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  std::size_t count = 0;
  test::walk_tree(file.body, [&](std::string_view what, const Range& range, const Range& outer) {
    BOOST_TEST_CONTEXT(what << " " << show(text, range)) {
      ++count;
      BOOST_TEST(range.start.byte <= range.end.byte);
      BOOST_TEST(range.start.byte >= outer.start.byte);
      BOOST_TEST(range.end.byte <= outer.end.byte);
      BOOST_TEST((advance(Position{}, text.substr(0, range.start.byte)) == range.start));
      BOOST_TEST((advance(Position{}, text.substr(0, range.end.byte)) == range.end));
      const std::string held = slice(text, range);
      if (what == "template") {
        BOOST_TEST((held.front() == '"' ? held.size() > 1 && held.back() == '"' : held.substr(0, 3) == "<<-"));
      }
      if (what.find("name") != std::string_view::npos) {
        BOOST_TEST((identifier_size(held, 0) == held.size() || held == "f::g"));
      }
    }
  });
  BOOST_TEST(count > 80U);
  for (const Block& block : file.body.blocks) {
    for (const Attribute& attribute : block.body.attributes) {
      BOOST_TEST(slice(text, attribute.name_range) == attribute.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(nesting_is_limited) {
  struct Row {
    const char* name;
    std::string text;
  };
  const std::size_t many = 100'000;
  const Row rows[] = {
      {"brackets", "a = " + repeat("[", 1'000'000)},
      {"parentheses", "a = " + repeat("(", many)},
      {"braces", "a = " + repeat("{", many)},
      {"object keys", "a = " + repeat("{(", many)},
      {"signs", "a = " + repeat("-", many) + "1"},
      {"operators", "a = 1" + repeat(" + 1", many)},
      {"names", "a = b" + repeat(".c", many)},
      {"indexes", "a = b" + repeat("[0]", many)},
      {"nested indexes", "a = " + repeat("b[", many)},
      {"splats", "a = b" + repeat("[*]", many)},
      {"splat members", "a = b.*" + repeat(".c", many)},
      {"conditions", "a = " + repeat("b ? c : ", many) + "d"},
      {"conditions in conditions", "a = " + repeat("b ? ", many)},
      {"calls", "a = " + repeat("f(", many)},
      {"templates", "a = " + repeat("\"${", many)},
      {"directives", "a = \"" + repeat("%{ if b }", many) + "\""},
      {"chains on the left of chains", "a = " + repeat("(", 200) + "b" + repeat(repeat(" + b", 200) + ")", 200)},
      {"for expressions", "a = " + repeat("[for b in ", many)},
      {"blocks", repeat("a {\n  ", many)},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_native(row.text, "main.tf");
      BOOST_TEST_REQUIRE(!file.diagnostics.empty());
      BOOST_TEST(to_string(file.diagnostics.front().what.code) == "LIMIT_EXCEEDED");
      BOOST_TEST(file.diagnostics.front().what.location.has_value());
    }
  }
  BOOST_TEST(outline_of("a = " + repeat("(", 100) + "1" + repeat(")", 100)).substr(0, 9) == "a=(paren ");
  BOOST_TEST(outline_of("a = b" + repeat(".c", 900)).substr(0, 4) == "a=(.");
}

BOOST_AUTO_TEST_CASE(nesting_errors_name_the_limit) {
  const ParsedFile deep = parse_native("a = " + repeat("[", 300), "main.tf");
  BOOST_TEST(test::to_line(deep.diagnostics.at(0).what) ==
             "main.tf:1:261-1:262 this is nested more than 256 levels deep, which is the limit (split it, for example "
             "with local values)");
  const ParsedFile wide = parse_native("a = 1" + repeat("+1", 1024), "main.tf");
  BOOST_TEST(test::to_line(wide.diagnostics.at(0).what) ==
             "main.tf:1:5-1:2054 this expression chains too many operators, more than 1024 (split it, for example "
             "with local values)");
}

BOOST_AUTO_TEST_CASE(large_texts) {
  struct Row {
    const char* name;
    std::string text;
    std::size_t attributes;
    std::size_t blocks;
  };
  const Row rows[] = {
      {"one long line", "a = \"" + repeat("x", 10'000'000) + "\"\n", 1, 0},
      {"one grapheme cluster", "a = \"e" + repeat("\xCC\x81", 1'000'000) + "\"\n", 1, 0},
      {"many blocks", repeat("b \"x\" {\n  c = \"" + repeat("x", 250) + "\"\n}\n", 50'000), 0, 50'000},
      {"many comments", repeat("/* c */ # d\n", 100'000), 0, 0},
      {"long heredoc", "a = <<-E\n" + repeat("  x\n", 200'000) + "E\n", 1, 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_native(row.text, "main.tf");
      BOOST_TEST(file.diagnostics.empty());
      BOOST_TEST(file.body.attributes.size() == row.attributes);
      BOOST_TEST(file.body.blocks.size() == row.blocks);
    }
  }
}

BOOST_AUTO_TEST_CASE(reading_ends_when_it_is_told_to) {
  int asked = 0;
  const ParsedFile file = parse_native("a {}\nb {}\nc {}\nd = [\n", "main.tf", {.stops = [&] { return ++asked > 2; }});
  BOOST_TEST(file.body.blocks.size() == 2U);
  BOOST_TEST(file.diagnostics.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

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
      {"a directive that ends nothing", "%{ endif }", "unexpected directive: expected an if or a for before it",
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

namespace {

BOOST_AUTO_TEST_SUITE(json_string)

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
           "f:1:17-1:20 expected one of \\n \\r \\t \\\" \\\\ \\uXXXX \\UXXXXXXXX after a backslash, found \"\\q\" "
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
           "f:1:9-1:10 expected the end of the string after the expression, found \"b\""},
          {"open bracket", R"("\n[a")",
           "f:1:9-1:10 \"[\" is never closed: expected \",\" or \"]\" after an item of the list before the end of "
           "the "
           "string"},
          {"interpolation", R"("${a}")",
           "f:1:7-1:8 the character \"$\" is not allowed outside of strings and comments"},
          {"unclosed heredoc", R"("<<E\nx")",
           "f:1:7-1:12 the heredoc that starts here has no closing line: expected a line with only \"E\" (the line of "
           "the closing marker may only contain blanks besides the marker and must end with a line break)"},
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
