#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "plugin/hcl/json_syntax.h"
#include "plugin/hcl/parser.h"
#include "tests/plugin/hcl/tree_shape.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;

BOOST_AUTO_TEST_SUITE(parser_errors)

std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : parse_native(text, "main.tf").diagnostics) {
    lines.push_back(test::to_line(diagnostic.what));
  }
  return lines;
}

struct Row {
  const char* name;
  std::string text;
  std::vector<std::string> errors;
};

template <std::size_t size>
void check(const Row (&rows)[size]) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(errors_of(row.text) == row.errors, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(values_without_quotes) {
  check({
      {"version",
       "version = 1.2.3\n",
       {"main.tf:1:11-1:16 expected a number, found \"1.2.3\" (a version is text and needs quotes: "
        "\"1.2.3\")"}},
      {"constraint with a tilde",
       "version = ~> 1.0\n",
       {"main.tf:1:11-1:12 there is no operator \"~\" (a version constraint is text: version = \"~> 1.0\")"}},
      {"constraint with a comparison",
       "version = >= 1.0\n",
       {"main.tf:1:11-1:13 expected a value, found \">=\" (a version constraint is text and needs quotes: version = "
        "\">= 1.0\")"}},
      {"version with a v",
       "version = v1.2.3\n",
       {"main.tf:1:13-1:17 expected one whole number as index after \".\", found \"2.3\" (write indexes in brackets, "
        "as in a[0][0]; a version is text and needs quotes)"}},
      {"relative path",
       "source = ./modules/vpc\n",
       {"main.tf:1:10-1:11 expected a value, found \".\" (an address or a path is text and needs quotes: source = "
        "\"./modules/vpc\")"}},
      {"address with a scheme",
       "source = git::https://host/x.git\n",
       {"main.tf:1:20-1:21 expected \"(\" after the function name \"git::https\", found \":\" (text such as an "
        "address needs quotes)"}},
      {"address",
       "source = https://host/x.git\n",
       {"main.tf:1:15-1:16 expected the end of the line after the value of \"source\", found \":\" (text needs double "
        "quotes around it)"}},
      {"two words",
       "name = my module\n",
       {"main.tf:1:11-1:17 expected the end of the line after the value of \"name\", found \"module\" (text needs "
        "double quotes around it)"}},
      {"single quotes",
       "a = 'x'\n",
       {"main.tf:1:5-1:6 expected straight double quotes around a string, found \"'\" (put text between straight "
        "double quotes: \"text\")"}},
      {"curly quotes",
       "a = “x”\n",
       {"main.tf:1:5-1:6 expected straight double quotes around a string, found the curly quote \"“\" (U+201C) (put "
        "text between straight double quotes: \"text\")"}},
      {"curly quotes within",
       "a = \"x\"”\n",
       {"main.tf:1:8-1:9 expected straight double quotes around a string, found the curly quote \"”\" (U+201D) (put "
        "text between straight double quotes: \"text\")"}},
      {"opening quote missing",
       "version = 1.0\"\n",
       {"main.tf:1:14-1:15 expected the end of the line after the value of \"version\", found a quotation mark (text "
        "needs double quotes around it)"}},
      {"no value",
       "a =\n",
       {"main.tf:1:4-2:1 expected the value of \"a\" after \"=\", found the end of the line (the value must start on "
        "the same line)"}},
      {"no value before the end",
       "a =",
       {"main.tf:1:4-1:4 expected the value of \"a\" after \"=\", found the end of the file (the value must start on "
        "the same line)"}},
      {"value on the next line",
       "a =\n  1\n",
       {"main.tf:1:4-2:1 expected the value of \"a\" after \"=\", found the end of the line (the value must start on "
        "the same line)"}},
      {"operator at the line end", "a = 1 +\n  2\n", {"main.tf:1:8-2:1 expected a value, found the end of the line"}},
  });
}

BOOST_AUTO_TEST_CASE(things_never_closed) {
  check({
      {"string",
       "a = \"x\nb = 1\n",
       {"main.tf:1:5-1:6 the string that starts here has no closing quotation mark on its line (close the string, or "
        "write several lines as a heredoc (<<EOT) or with \\n)"}},
      {"string at the end of the file",
       "a = \"x",
       {"main.tf:1:5-1:6 the string that starts here has no closing quotation mark on its line (close the string, or "
        "write several lines as a heredoc (<<EOT) or with \\n)"}},
      {"string with an interpolation",
       "a = \"${b\"\n",
       {"main.tf:1:9-1:10 expected \"}\" to end the interpolation, found a quotation mark (write $${ for a \"${\" that "
        "is plain text)"}},
      {"label",
       "a \"b {\n}\n",
       {"main.tf:1:3-1:4 the string that starts here has no closing quotation mark on its line (close the string, or "
        "write several lines as a heredoc (<<EOT) or with \\n)"}},
      {"interpolation",
       "a = \"${b\n",
       {"main.tf:1:6-1:8 \"${\" is never closed: expected \"}\" to end the interpolation before the end of the file"}},
      {"heredoc",
       "a = <<EOT\nx\n",
       {"main.tf:1:5-2:1 the heredoc that starts here has no closing line: expected a line with only \"EOT\" (the line "
        "of the closing marker may only contain blanks besides the marker and must end with a line break)"}},
      {"indented heredoc",
       "b {\n  a = <<-EOT\n  x\n  EOT,\n}\n",
       {"main.tf:2:7-3:1 the heredoc that starts here has no closing line: expected a line with only \"EOT\" (the line "
        "of the closing marker may only contain blanks besides the marker and must end with a line break)"}},
      {"tuple",
       "a = [\n  1,\n",
       {"main.tf:1:5-1:6 \"[\" is never closed: expected a value or \"]\" before the end of the file"}},
      {"tuple without a comma at the end",
       "a = [1\n",
       {"main.tf:1:5-1:6 \"[\" is never closed: expected \",\" or \"]\" after an item of the list before the end of "
        "the file"}},
      {"object",
       "a = {\n  b = 1\n",
       {"main.tf:1:5-1:6 \"{\" is never closed: expected a key or \"}\" before the end of the file"}},
      {"call", "a = f(1,\n", {"main.tf:1:6-1:7 \"(\" is never closed: expected \")\" before the end of the file"}},
      {"parenthesis", "a = (1\n", {"main.tf:1:5-1:6 \"(\" is never closed: expected \")\" before the end of the file"}},
      {"condition",
       "a = b ? c\n",
       {"main.tf:1:10-2:1 expected \":\" and the value for when the condition is false, found the end of the line"}},
      {"block",
       "a {\n  b = 1\n",
       {"main.tf:1:3-1:4 the \"{\" of block \"a\" is never closed: expected \"}\" before the end of the file (add the "
        "missing \"}\")"}},
      {"block on one line",
       "a { b = 1",
       {"main.tf:1:3-1:4 the \"{\" of block \"a\" is never closed: expected \"}\" before the end of the file (add the "
        "missing \"}\")"}},
      {"block right at its brace",
       "a {",
       {"main.tf:1:3-1:4 the \"{\" of block \"a\" is never closed: expected \"}\" before the end of the file (add the "
        "missing \"}\")"}},
      {"block before others",
       "a {\n  x = 1\n\nb {\n}\n\nc {\n}\n",
       {"main.tf:1:3-1:4 the \"{\" of block \"a\" is never closed: expected \"}\" before the end of the file (add the "
        "missing \"}\"; the block on line 4 starts in the first column, so it may be missing before that)"}},
      {"comment", "a = 1 /* c\n", {"main.tf:1:7-1:9 the comment that starts here is never closed: expected \"*/\""}},
  });
}

BOOST_AUTO_TEST_CASE(bodies) {
  check({
      {"quoted name",
       "\"a\" = 1\n",
       {"main.tf:1:1-1:2 expected the name of an argument or of a block, found a quotation mark (names of arguments "
        "and blocks are written without quotes)"}},
      {"colon",
       "a : 1\n",
       {"main.tf:1:3-1:4 expected \"=\" after the argument name \"a\", found \":\" (write arguments as name = value; "
        "\":\" is only valid in objects)"}},
      {"name alone", "a\n", {"main.tf:1:2-2:1 expected \"=\" or a block after \"a\", found the end of the line"}},
      {"name before the end",
       "a",
       {"main.tf:1:2-1:2 expected \"=\" or a block after \"a\", found the end of the file"}},
      {"brace on the next line",
       "a \"b\"\n{\n}\n",
       {"main.tf:1:6-2:1 expected a label or \"{\" in the header of block \"a\", found the end of the line (put the "
        "\"{\" on the line of the block's type)"}},
      {"label with an interpolation",
       "a \"${b}\" {}\n",
       {"main.tf:1:4-1:6 expected plain text in a block label, found \"${\" (labels cannot contain ${ } or %{ })"}},
      {"equal sign behind a label",
       "a b = 1\n",
       {"main.tf:1:5-1:6 expected a label or \"{\" in the header of block \"a\", found \"=\" (the name of an argument "
        "is one word without quotes)"}},
      {"number", "1 = 2\n", {"main.tf:1:1-1:2 expected the name of an argument or of a block, found \"1\""}},
      {"closing brace alone", "}\n", {"main.tf:1:1-1:2 expected the name of an argument or of a block, found \"}\""}},
      {"comma behind an argument",
       "a = 1,\nb = 2\n",
       {"main.tf:1:6-1:7 expected the end of the line after the value of \"a\", found \",\" (do not separate block "
        "arguments by commas)"}},
      {"two arguments on a line",
       "a = 1 b = 2\n",
       {"main.tf:1:7-1:8 expected the end of the line after the value of \"a\", found \"b\" (text needs double quotes "
        "around it)"}},
      {"two arguments in a block on one line",
       "a { b = 1, c = 2 }\n",
       {"main.tf:1:10-1:11 expected the end of the line after the value of \"b\", found \",\" (do not separate block "
        "arguments by commas)"}},
      {"block in a block on one line",
       "a { b {} }\n",
       {"main.tf:1:7-1:8 expected \"=\" after \"b\", found \"{\" (a block on one line contains one argument and "
        "nothing "
        "else)"}},
      {"one line begun, several used",
       "a { b = 1\n}\n",
       {"main.tf:1:10-2:1 expected the \"}\" of block \"a\" on the same line, found the end of the line (start a new "
        "line after the \"{\" too)"}},
      {"several lines begun, brace not alone",
       "a {\n  b = 1 }\n",
       {"main.tf:2:9-2:10 expected the end of the line before the \"}\" of block \"a\", found \"}\""}},
      {"heredoc in a block on one line",
       "a { b = <<E\nx\nE\n}\n",
       {"main.tf:3:2-4:1 expected the \"}\" of block \"a\" on the same line, found the end of the line (start a new "
        "line after the \"{\" too)"}},
      {"something behind a block",
       "a {} b {}\n",
       {"main.tf:1:6-1:7 expected the end of the line after the \"}\" of block \"a\", found \"b\""}},
      {"comment over lines is no line end",
       "a = 1 /*\n*/ b = 2\n",
       {"main.tf:2:4-2:5 expected the end of the line after the value of \"a\", found \"b\" (text needs double quotes "
        "around it)"}},
  });
}

BOOST_AUTO_TEST_CASE(characters_out_of_place) {
  check({
      {"semicolon",
       "a = 1;\n",
       {"main.tf:1:6-1:7 unexpected \";\": expected one argument per line (start a new line instead)"}},
      {"single and", "a = b & c\n", {"main.tf:1:7-1:8 there is no operator \"&\" (did you mean \"&&\"?)"}},
      {"single or", "a = b | c\n", {"main.tf:1:7-1:8 there is no operator \"|\" (did you mean \"||\"?)"}},
      {"caret",
       "a = 2 ^ 3\n",
       {"main.tf:1:7-1:8 there is no operator \"^\" (use the function pow, or quotes around text)"}},
      {"backslash",
       "a = \\\n",
       {"main.tf:1:5-1:6 the character \"\\\" is not allowed outside of strings and comments"}},
      {"backtick",
       "a = `x`\n",
       {"main.tf:1:5-1:6 expected straight double quotes around a string, found \"`\" (put text between straight "
        "double quotes: \"text\")"}},
      {"no-break space",
       "a =\u00a01\n",
       {"main.tf:1:4-1:5 the character U+00A0 is not allowed outside of strings and comments"}},
      {"form feed",
       "a = 1\f\n",
       {"main.tf:1:6-1:7 the character U+000C is not allowed outside of strings and comments"}},
      {"lone carriage return",
       "a = 1\rb = 2\n",
       {"main.tf:1:6-1:7 a carriage return is not followed by a line feed (save the file with line endings LF "
        "or CRLF)"}},
      {"line separator",
       "a = 1\u2028\n",
       {"main.tf:1:6-1:7 the character U+2028 is not allowed outside of strings and comments"}},
      {"emoji",
       "😀 = 1\n",
       {"main.tf:1:1-1:2 the character \"😀\" (U+1F600) is not allowed outside of strings and comments"}},
      {"later byte order mark",
       "a = 1\n\ufeffb = 2\n",
       {"main.tf:2:1-2:2 the character U+FEFF is not allowed outside of strings and comments"}},
      {"closing marker outside",
       "a = ~}\n",
       {"main.tf:1:5-1:6 there is no operator \"~\" (a version constraint is text: version = \"~> 1.0\")"}},
  });
}

BOOST_AUTO_TEST_CASE(one_run_reports_all) {
  check({
      {"each block has its own",
       "a {\n  x =\n}\n\nb {\n  y = 'z'\n}\n\nc {\n  z = [1 2]\n}\n",
       {"main.tf:2:6-3:1 expected the value of \"x\" after \"=\", found the end of the line (the value must start on "
        "the same line)",
        "main.tf:6:7-6:8 expected straight double quotes around a string, found \"'\" (put text between straight "
        "double quotes: \"text\")",
        "main.tf:10:10-10:11 expected \",\" or \"]\" after an item of the list, found \"2\" (items of a list are "
        "separated by commas, on lines of their own too)"}},
      {"behind an unterminated string",
       "a {\n  x = [\"foo, \"bar\"]\n}\n\nb {\n  y = ~> 1.0\n}\n",
       {"main.tf:2:15-2:18 expected \",\" or \"]\" after an item of the list, found \"bar\" (items of a list are "
        "separated by commas, on lines of their own too)",
        "main.tf:6:7-6:8 there is no operator \"~\" (a version constraint is text: version = \"~> 1.0\")"}},
      {"behind a bracket left open",
       "a {\n  x = [\n    1,\n}\n\nb \"x\" {\n  y =\n}\n",
       {"main.tf:4:1-4:2 expected a value or \"]\", found \"}\" (the \"[\" on line 2 is still open)",
        "main.tf:7:6-8:1 expected the value of \"y\" after \"=\", found the end of the line (the value must start on "
        "the same line)"}},
      {"behind a bracket left open that swallows a header",
       "x = [\n  1,\n\nb \"x\" {\n  y = 1.2.3\n}\n",
       {"main.tf:4:3-4:4 expected \",\" or \"]\" after an item of the list, found a quotation mark (items of a list "
        "are separated by commas, on lines of their own too; the \"[\" on line 1 is still open)",
        "main.tf:5:7-5:12 expected a number, found \"1.2.3\" (a version is text and needs quotes: "
        "\"1.2.3\")"}},
      {"behind an unterminated heredoc",
       "a {\n  x = <<EOT\n  text\n}\n\nb {\n  y =\n}\n",
       {"main.tf:2:7-3:1 the heredoc that starts here has no closing line: expected a line with only \"EOT\" (the line "
        "of the closing marker may only contain blanks besides the marker and must end with a line break)",
        "main.tf:7:6-8:1 expected the value of \"y\" after \"=\", found the end of the line (the value must start on "
        "the same line)"}},
      {"behind arguments of the file",
       "a = 1.2.3\nb = 'x'\nc = 1\n",
       {"main.tf:1:5-1:10 expected a number, found \"1.2.3\" (a version is text and needs quotes: "
        "\"1.2.3\")",
        "main.tf:2:5-2:6 expected straight double quotes around a string, found \"'\" (put text between straight "
        "double quotes: \"text\")"}},
      {"several duplicates",
       "a = 1\na = 2\na = 3\n",
       {"main.tf:2:1-2:2 the argument \"a\" is set a second time (keep one of them)",
        "main.tf:3:1-3:2 the argument \"a\" is set a second time (keep one of them)"}},
  });
}

BOOST_AUTO_TEST_CASE(a_duplicate_names_the_first) {
  const ParsedFile file = parse_native("b {\n  a = 1\n  a = 2\n}\n", "main.tf");
  BOOST_TEST_REQUIRE(file.diagnostics.size() == 1U);
  const Error& error = file.diagnostics.front().what;
  BOOST_TEST(test::to_line(error) == "main.tf:3:3-3:4 the argument \"a\" is set a second time (keep one of them)");
  BOOST_TEST_REQUIRE(error.related.size() == 1U);
  BOOST_TEST(error.related.front().message == "it was first set here");
  BOOST_TEST(to_string(error.related.front().location) == "main.tf:2:3");
  BOOST_TEST(file.body.blocks.at(0).body.attributes.size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_could_be_read_is_kept) {
  const ParsedFile file = parse_native("a {}\nb {\n  x =\n}\nc {}\n", "main.tf");
  BOOST_TEST(file.diagnostics.size() == 1U);
  BOOST_TEST_REQUIRE(file.body.blocks.size() == 2U);
  BOOST_TEST(file.body.blocks[0].type == "a");
  BOOST_TEST(file.body.blocks[1].type == "c");
}

BOOST_AUTO_TEST_CASE(the_code_is_the_callers) {
  const auto code = [](ParseOptions options) {
    return std::string(to_string(parse_native("a =\n", "x", options).diagnostics.at(0).what.code));
  };
  BOOST_TEST(code({}) == "CONFIG_PARSE");
  BOOST_TEST(code({.error_code = Code::lock_parse}) == "LOCK_PARSE");
}

BOOST_AUTO_TEST_CASE(reading_stops_after_many_errors) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "a =\n";
  const std::vector<std::string> lines = errors_of(text);
  BOOST_TEST_REQUIRE(lines.size() == 101U);
  BOOST_TEST(lines.back() == "main.tf:100:4-101:1 reading stopped here after 100 errors");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

BOOST_AUTO_TEST_CASE(a_text_beyond_the_limit_is_refused_unread) {
  // Only its first bytes are there; what reads on leaves them behind.
  const std::string_view text("name = 1\n", (std::size_t{16} << 20U) + 1);
  struct Row {
    const char* name;
    ParsedFile file;
    const char* hint;
  };
  const Row rows[] = {
      {"a configuration", parse_native(text, "main.tf"), "split it into several files"},
      {"JSON syntax", parse_json(text, "main.tf.json", {}), "split it into several files"},
      {"a lock file", parse_native(text, "a", {.error_code = Code::lock_parse}), "split the root module"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_REQUIRE(row.file.diagnostics.size() == 1U);
      const Error& error = row.file.diagnostics.front().what;
      BOOST_TEST(to_string(error.code) == "LIMIT_EXCEEDED");
      BOOST_TEST(error.message == "expected a text of at most 16777216 bytes, found 16777217");
      BOOST_TEST(error.hint == row.hint);
      BOOST_TEST(row.file.body.attributes.empty());
    }
  }
}
