#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "plugin/hcl/json_syntax.h"
#include "tests/plugin/hcl/json_schema.h"
#include "tests/plugin/hcl/tree_shape.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;

struct Row {
  const char* name;
  std::string text;
  std::vector<std::string> errors;
};

std::vector<std::string> errors_of(const ParsedFile& file) {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : file.diagnostics) lines.push_back(test::to_line(diagnostic.what));
  return lines;
}

template <std::size_t size>
void check(const Row (&rows)[size]) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto errors = errors_of(parse_json(row.text, "f", test::json_schema()));
      BOOST_TEST(errors == row.errors, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE(json_errors)

BOOST_AUTO_TEST_CASE(structure) {
  check({
      {"empty", "", {"f:1:1-1:1 expected an object or an array of objects, found the end of the file"}},
      {"blank", " \n", {"f:2:1-2:1 expected an object or an array of objects, found the end of the file"}},
      {"root",
       "5",
       {"f:1:1-1:2 expected an object or an array of objects, found a number (a file without content holds {})"}},
      {"root null",
       "null",
       {"f:1:1-1:5 expected an object or an array of objects, found null (a file without content holds {})"}},
      {"two values",
       "{}\n{}",
       {"f:2:1-2:2 expected the end of the file behind the value that it holds, found \"{\" (a file holds one value)"}},
      {"native syntax",
       "module \"a\" {\n}",
       {"f:1:1-1:7 expected an object or an array of objects, found \"module\" (JSON knows the words true, false and "
        "null, in lower case; text needs double quotes)"}},
      {"unclosed object",
       "{\n \"a\": {",
       {"f:2:7-2:8 \"{\" is never closed: expected the name of a member in double quotes or \"}\" before the end of "
        "the file"}},
      {"unclosed object behind a member",
       "{\"a\": 1\n",
       {"f:1:1-1:2 \"{\" is never closed: expected \",\" or \"}\" behind a member of the object before the end of the "
        "file"}},
      {"unclosed object behind a name",
       "{\"a\"",
       {"f:1:1-1:2 \"{\" is never closed: expected \":\" behind the name \"a\" before the end of the file"}},
      {"unclosed object behind a colon",
       "{\"a\":",
       {"f:1:1-1:2 \"{\" is never closed: expected the value of \"a\" before the end of the file"}},
      {"unclosed object behind a comma",
       "{\"a\": 1,",
       {"f:1:1-1:2 \"{\" is never closed: expected the name of a member in double quotes or \"}\" before the end of "
        "the file"}},
      {"unclosed array",
       "[",
       {"f:1:1-1:2 \"[\" is never closed: expected a value or \"]\" before the end of the file"}},
      {"unclosed array behind an item",
       "{\"a\": [1",
       {"f:1:7-1:8 \"[\" is never closed: expected \",\" or \"]\" behind an item of the array before the end of the "
        "file"}},
      {"unclosed array behind a comma",
       "{\"a\": [1,",
       {"f:1:7-1:8 \"[\" is never closed: expected a value or \"]\" before the end of the file"}},
      {"bracket for a brace",
       "{\"a\": 1]",
       {"f:1:8-1:9 expected \",\" or \"}\" behind a member of the object, found \"]\""}},
      {"brace for a bracket",
       "{\"a\": [1}",
       {"f:1:9-1:10 expected \",\" or \"]\" behind an item of the array, found \"}\""}},
      {"brace left open",
       "{\"a\": {\n\"b\": 1\n\n, 5}",
       {"f:4:3-4:4 expected the name of a member in double quotes or \"}\", found \"5\" (the \"{\" on line 1 is still "
        "open)"}},
      {"trailing comma in an object",
       "{\"a\": 1 , }",
       {"f:1:9-1:10 expected something more behind this \",\", found \"}\" (remove the comma: JSON allows none behind "
        "the last one)"}},
      {"trailing comma in an array",
       "{\"a\": [1,\n]}",
       {"f:1:9-1:10 expected something more behind this \",\", found \"]\" (remove the comma: JSON allows none behind "
        "the last one)"}},
      {"no comma in an object",
       "{\"a\": 1 \"b\": 2}",
       {"f:1:9-1:10 expected \",\" or \"}\" behind a member of the object, found a string"}},
      {"no comma in an array",
       "{\"a\": [1 2]}",
       {"f:1:10-1:11 expected \",\" or \"]\" behind an item of the array, found \"2\""}},
      {"two commas", "{\"a\": [1,,2]}", {"f:1:10-1:11 expected a value or \"]\", found \",\""}},
      {"leading comma", "{,}", {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \",\""}},
      {"colon in an array",
       "{\"a\": [\"b\": 1]}",
       {"f:1:11-1:12 expected \",\" or \"]\" behind an item of the array, found \":\""}},
      {"name without quotes",
       "{a: 1}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \"a\" (names take double quotes)"}},
      {"name in single quotes",
       "{'a': 1}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \"'\" (strings and names take double "
        "quotes)"}},
      {"number as a name",
       "{1: 1}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \"1\""}},
      {"equal sign",
       "{\"a\" = 1}",
       {"f:1:6-1:7 expected \":\" behind the name \"a\", found \"=\" (JSON puts \":\" between a name and its value)"}},
      {"no colon", "{\"a\" 1}", {"f:1:6-1:7 expected \":\" behind the name \"a\", found \"1\""}},
      {"no value", "{\"a\": }", {"f:1:7-1:8 expected the value of \"a\", found \"}\""}},
      {"line comment",
       "{\n# c\n}",
       {"f:2:1-2:2 expected the name of a member in double quotes or \"}\", found \"#\" (JSON has no comments; a "
        "member named \"//\" can hold one)"}},
      {"C comment",
       "{\"a\": /* c */ 1}",
       {"f:1:7-1:8 expected the value of \"a\", found \"/\" (JSON has no comments; a member named \"//\" can hold "
        "one)"}},
      {"control character",
       "{\f}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found U+000C"}},
      {"no-break space",
       "{\u00a0}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found U+00A0"}},
  });
}

BOOST_AUTO_TEST_CASE(words_and_numbers) {
  check({
      {"capital letter",
       "{\"a\": True}",
       {"f:1:7-1:11 expected the value of \"a\", found \"True\" (JSON knows the words true, false and null, in lower "
        "case; text needs double quotes)"}},
      {"not a number",
       "{\"a\": NaN}",
       {"f:1:7-1:10 expected the value of \"a\", found \"NaN\" (JSON knows the words true, false and null, in lower "
        "case; text needs double quotes)"}},
      {"word",
       "{\"a\": foo_bar}",
       {"f:1:7-1:14 expected the value of \"a\", found \"foo_bar\" (JSON knows the words true, false and null, in "
        "lower case; text needs double quotes)"}},
      {"word behind a word",
       "{\"a\": nulltrue}",
       {"f:1:7-1:15 expected the value of \"a\", found \"nulltrue\" (JSON knows the words true, false and null, in "
        "lower case; text needs double quotes)"}},
      {"single quotes",
       "{\"a\": 'x'}",
       {"f:1:7-1:8 expected the value of \"a\", found \"'\" (strings and names take double quotes)"}},
      {"leading zero",
       "{\"a\": 01}",
       {"f:1:7-1:9 expected a number, found \"01\", which is none (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"version",
       "{\"a\": 1.2.3}",
       {"f:1:7-1:12 expected a number, found \"1.2.3\", which is none (numbers read like 0, -12.5 or 1e9; text such as "
        "a version needs double quotes)"}},
      {"plus",
       "{\"a\": +1}",
       {"f:1:7-1:9 expected a number, found \"+1\", which is none (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"minus alone",
       "{\"a\": -}",
       {"f:1:7-1:8 expected a number, found \"-\", which is none (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"no digits before the point",
       "{\"a\": .5}",
       {"f:1:7-1:9 expected a number, found \".5\", which is none (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"no digits behind the point",
       "{\"a\": 5.}",
       {"f:1:7-1:9 expected a number, found \"5.\", which is none (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"no digits in the exponent",
       "{\"a\": 5e+}",
       {"f:1:7-1:10 expected a number, found \"5e+\", which is none (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"hexadecimal",
       "{\"a\": 0x10}",
       {"f:1:7-1:11 expected a number, found \"0x10\", which is none (numbers read like 0, -12.5 or 1e9; text such as "
        "a version needs double quotes)"}},
      {"infinity",
       "{\"a\": -Infinity}",
       {"f:1:7-1:16 expected a number, found \"-Infinity\", which is none (numbers read like 0, -12.5 or 1e9; text "
        "such as a version needs double quotes)"}},
  });
}

BOOST_AUTO_TEST_CASE(strings) {
  check({
      {"unclosed",
       "{\"a\": \"x",
       {"f:1:7-1:8 the string that starts here has no closing quotation mark on its line (close the string, or write a "
        "line break as \\n)"}},
      {"unclosed on its line",
       "{\"a\": \"x\n\"}",
       {"f:1:7-1:8 the string that starts here has no closing quotation mark on its line (close the string, or write a "
        "line break as \\n)"}},
      {"unclosed behind an escape",
       "{\"a\": \"x\\\"",
       {"f:1:7-1:8 the string that starts here has no closing quotation mark on its line (close the string, or write a "
        "line break as \\n)"}},
      {"backslash at the end of the line",
       "{\"a\": \"x\\\n\"}",
       {"f:1:7-1:8 the string that starts here has no closing quotation mark on its line (close the string, or write a "
        "line break as \\n)"}},
      {"backslash at the end",
       "{\"a\": \"x\\",
       {"f:1:7-1:8 the string that starts here has no closing quotation mark on its line (close the string, or write a "
        "line break as \\n)"}},
      {"tab", "{\"a\": \"é\t\"}", {"f:1:9-1:10 expected text, found the control character U+0009 (write it as \\t)"}},
      {"escape character",
       "{\"a\": \"\x1b\"}",
       {"f:1:8-1:9 expected text, found the control character U+001B (write it as \\u001b)"}},
      {"unknown escape",
       "{\"a\": \"é\\d\"}",
       {"f:1:9-1:11 expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found \"\\d\" (write \\\\ for one "
        "backslash)"}},
      {"escape of more than a letter",
       "{\"a\": \"\\e\xCC\x81\"}",
       {"f:1:8-1:10 expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found \"\\é\" (write \\\\ for one "
        "backslash)"}},
      {"upper case U",
       "{\"a\": \"\\U0001f600\"}",
       {"f:1:8-1:10 expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found \"\\U\" (write \\\\ for one "
        "backslash)"}},
      {"few digits", "{\"a\": \"\\u12g4\"}", {"f:1:8-1:12 expected 4 hexadecimal digits behind \\u, found 2"}},
      {"half of a pair",
       "{\"a\": \"\\ud800\"}",
       {"f:1:8-1:14 expected a character, found \\ud800, which is half of one (characters beyond U+FFFF take two "
        "escapes: \\ud83d\\ude00)"}},
      {"other half of a pair",
       "{\"a\": \"\\uDC00x\"}",
       {"f:1:8-1:14 expected a character, found \\uDC00, which is half of one (characters beyond U+FFFF take two "
        "escapes: \\ud83d\\ude00)"}},
      {"two first halves",
       "{\"a\": \"\\ud800\\ud800\"}",
       {"f:1:8-1:14 expected a character, found \\ud800, which is half of one (characters beyond U+FFFF take two "
        "escapes: \\ud83d\\ude00)"}},
      {"half of a pair and a letter",
       "{\"a\": \"\\ud800\\u0041\"}",
       {"f:1:8-1:14 expected a character, found \\ud800, which is half of one (characters beyond U+FFFF take two "
        "escapes: \\ud83d\\ude00)"}},
      {"in a name",
       "{\"a\\x\": 1}",
       {"f:1:4-1:6 expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found \"\\x\" (write \\\\ for one "
        "backslash)"}},
  });
}

BOOST_AUTO_TEST_CASE(bytes) {
  check({
      {"byte order mark",
       "\xEF\xBB\xBF{}",
       {"f:1:1-1:2 expected JSON, found a byte order mark, which JSON does not have (save the file as UTF-8 without a "
        "byte order mark)"}},
      {"NUL", std::string("{\0}", 3), {"f:1:2-1:3 expected text in UTF-8, found a NUL byte (save the file as UTF-8)"}},
      {"invalid UTF-8",
       "{\"é\": \"\xC0\x80\"}",
       {"f:1:8-1:9 expected text in UTF-8, found the byte 0xC0, which is not part of any (save the file as UTF-8)"}},
      {"surrogate in UTF-8",
       "{\"a\": \"\xED\xA0\x80\"}",
       {"f:1:8-1:9 expected text in UTF-8, found the byte 0xED, which is not part of any (save the file as UTF-8)"}},
      {"UTF-16",
       std::string("\xFF\xFE{\0}\0", 6),
       {"f:1:1-1:2 expected text in UTF-8, found the byte 0xFF, which is not part of any (save the file as UTF-8)"}},
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
