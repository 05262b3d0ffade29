#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "plugin/hcl/json_syntax.h"
#include "tests/plugin/hcl/json_schema.h"
#include "tests/plugin/hcl/tree_shape.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;
using test::repeat;

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
       {"f:2:1-2:2 expected the end of the file after its value, found \"{\" (a file contains only one value)"}},
      {"native syntax",
       "module \"a\" {\n}",
       {"f:1:1-1:7 expected an object or an array of objects, found \"module\" (JSON has only the literals true, false "
        "and null, in lower case; text needs double quotes)"}},
      {"unclosed object",
       "{\n \"a\": {",
       {"f:2:7-2:8 \"{\" is never closed: expected the name of a member in double quotes or \"}\" before the end of "
        "the file"}},
      {"unclosed object behind a member",
       "{\"a\": 1\n",
       {"f:1:1-1:2 \"{\" is never closed: expected \",\" or \"}\" after a member of the object before the end of the "
        "file"}},
      {"unclosed object behind a name",
       "{\"a\"",
       {"f:1:1-1:2 \"{\" is never closed: expected \":\" after the name \"a\" before the end of the file"}},
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
       {"f:1:7-1:8 \"[\" is never closed: expected \",\" or \"]\" after an item of the array before the end of the "
        "file"}},
      {"unclosed array behind a comma",
       "{\"a\": [1,",
       {"f:1:7-1:8 \"[\" is never closed: expected a value or \"]\" before the end of the file"}},
      {"bracket for a brace",
       "{\"a\": 1]",
       {"f:1:8-1:9 expected \",\" or \"}\" after a member of the object, found \"]\""}},
      {"brace for a bracket",
       "{\"a\": [1}",
       {"f:1:9-1:10 expected \",\" or \"]\" after an item of the array, found \"}\""}},
      {"brace left open",
       "{\"a\": {\n\"b\": 1\n\n, 5}",
       {"f:4:3-4:4 expected the name of a member in double quotes or \"}\", found \"5\" (the \"{\" on line 1 is still "
        "open)"}},
      {"trailing comma in an object",
       "{\"a\": 1 , }",
       {"f:1:9-1:10 expected something after this \",\", found \"}\" (remove the comma: JSON allows none after "
        "the last one)"}},
      {"trailing comma in an array",
       "{\"a\": [1,\n]}",
       {"f:1:9-1:10 expected something after this \",\", found \"]\" (remove the comma: JSON allows none after "
        "the last one)"}},
      {"no comma in an object",
       "{\"a\": 1 \"b\": 2}",
       {"f:1:9-1:10 expected \",\" or \"}\" after a member of the object, found a string"}},
      {"no comma in an array",
       "{\"a\": [1 2]}",
       {"f:1:10-1:11 expected \",\" or \"]\" after an item of the array, found \"2\""}},
      {"two commas", "{\"a\": [1,,2]}", {"f:1:10-1:11 expected a value or \"]\", found \",\""}},
      {"leading comma", "{,}", {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \",\""}},
      {"colon in an array",
       "{\"a\": [\"b\": 1]}",
       {"f:1:11-1:12 expected \",\" or \"]\" after an item of the array, found \":\""}},
      {"name without quotes",
       "{a: 1}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \"a\" (names need double quotes)"}},
      {"name in single quotes",
       "{'a': 1}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \"'\" (strings and names need double "
        "quotes)"}},
      {"number as a name",
       "{1: 1}",
       {"f:1:2-1:3 expected the name of a member in double quotes or \"}\", found \"1\""}},
      {"equal sign",
       "{\"a\" = 1}",
       {"f:1:6-1:7 expected \":\" after the name \"a\", found \"=\" (write \":\" between a name and its value)"}},
      {"no colon", "{\"a\" 1}", {"f:1:6-1:7 expected \":\" after the name \"a\", found \"1\""}},
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
       {"f:1:7-1:11 expected the value of \"a\", found \"True\" (JSON has only the literals true, false and null, in "
        "lower case; text needs double quotes)"}},
      {"not a number",
       "{\"a\": NaN}",
       {"f:1:7-1:10 expected the value of \"a\", found \"NaN\" (JSON has only the literals true, false and null, in "
        "lower case; text needs double quotes)"}},
      {"word",
       "{\"a\": foo_bar}",
       {"f:1:7-1:14 expected the value of \"a\", found \"foo_bar\" (JSON has only the literals true, false and null, "
        "in lower case; text needs double quotes)"}},
      {"word behind a word",
       "{\"a\": nulltrue}",
       {"f:1:7-1:15 expected the value of \"a\", found \"nulltrue\" (JSON has only the literals true, false and null, "
        "in lower case; text needs double quotes)"}},
      {"single quotes",
       "{\"a\": 'x'}",
       {"f:1:7-1:8 expected the value of \"a\", found \"'\" (strings and names need double quotes)"}},
      {"leading zero",
       "{\"a\": 01}",
       {"f:1:7-1:9 expected a number, found \"01\" (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"version",
       "{\"a\": 1.2.3}",
       {"f:1:7-1:12 expected a number, found \"1.2.3\" (numbers read like 0, -12.5 or 1e9; text such as "
        "a version needs double quotes)"}},
      {"plus",
       "{\"a\": +1}",
       {"f:1:7-1:9 expected a number, found \"+1\" (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"minus alone",
       "{\"a\": -}",
       {"f:1:7-1:8 expected a number, found \"-\" (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"no digits before the point",
       "{\"a\": .5}",
       {"f:1:7-1:9 expected a number, found \".5\" (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"no digits behind the point",
       "{\"a\": 5.}",
       {"f:1:7-1:9 expected a number, found \"5.\" (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"no digits in the exponent",
       "{\"a\": 5e+}",
       {"f:1:7-1:10 expected a number, found \"5e+\" (numbers read like 0, -12.5 or 1e9; text such as a "
        "version needs double quotes)"}},
      {"hexadecimal",
       "{\"a\": 0x10}",
       {"f:1:7-1:11 expected a number, found \"0x10\" (numbers read like 0, -12.5 or 1e9; text such as "
        "a version needs double quotes)"}},
      {"infinity",
       "{\"a\": -Infinity}",
       {"f:1:7-1:16 expected a number, found \"-Infinity\" (numbers read like 0, -12.5 or 1e9; text "
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
      {"few digits", "{\"a\": \"\\u12g4\"}", {"f:1:8-1:12 expected 4 hexadecimal digits after \\u, found 2"}},
      {"half of a pair",
       "{\"a\": \"\\ud800\"}",
       {"f:1:8-1:14 expected a character, found \\ud800, which is half of a surrogate pair (characters beyond U+FFFF "
        "need two escapes: \\ud83d\\ude00)"}},
      {"other half of a pair",
       "{\"a\": \"\\uDC00x\"}",
       {"f:1:8-1:14 expected a character, found \\uDC00, which is half of a surrogate pair (characters beyond U+FFFF "
        "need two escapes: \\ud83d\\ude00)"}},
      {"two first halves",
       "{\"a\": \"\\ud800\\ud800\"}",
       {"f:1:8-1:14 expected a character, found \\ud800, which is half of a surrogate pair (characters beyond U+FFFF "
        "need two escapes: \\ud83d\\ude00)"}},
      {"half of a pair and a letter",
       "{\"a\": \"\\ud800\\u0041\"}",
       {"f:1:8-1:14 expected a character, found \\ud800, which is half of a surrogate pair (characters beyond U+FFFF "
        "need two escapes: \\ud83d\\ude00)"}},
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

BOOST_AUTO_TEST_SUITE(json_body)

BOOST_AUTO_TEST_CASE(against_the_schema) {
  check({
      {"number for labels",
       "{\"module\": 5, \"locals\": \"x\", \"a\": 1}",
       {"f:1:12-1:13 expected an object whose names are labels of block \"module\", found a number (write \"module\": "
        "{\"LABEL\": {…}})",
        "f:1:25-1:28 expected an object or an array of objects as the content of block \"locals\", found a string "
        "(write "
        "\"locals\": {…})"}},
      {"null for labels",
       "{\"module\": null}",
       {"f:1:12-1:16 expected an object whose names are labels of block \"module\", found null (write \"module\": "
        "{\"LABEL\": {…}})"}},
      {"no label",
       "{\"module\": {}, \"resource\": [], \"resource\": {\"a\": [{}, {}]}}",
       {"f:1:12-1:13 expected an object whose names are labels of block \"module\", found an object without any (write "
        "\"module\": {\"LABEL\": {…}})",
        "f:1:28-1:29 expected an object whose names are labels of block \"resource\", found an array without any "
        "(write \"resource\": {\"LABEL\": {\"LABEL\": {…}}})",
        "f:1:50-1:51 expected an object whose names are labels of block \"resource\", found an array without any "
        "(write \"resource\": {\"LABEL\": {\"LABEL\": {…}}})"}},
      {"item of a label array",
       "{\"module\": [{\"a\": {}}, 5, null, [{\"b\": {}}]]}",
       {"f:1:24-1:25 expected an object in this array, found a number (write \"module\": {\"LABEL\": {…}})",
        "f:1:27-1:31 expected an object in this array, found null (write \"module\": {\"LABEL\": {…}})",
        "f:1:33-1:34 expected an object in this array, found an array (write \"module\": {\"LABEL\": {…}})"}},
      {"content",
       "{\"module\": {\"a\": true, \"b\": \"\", \"c\": {}}}",
       {"f:1:18-1:22 expected an object or an array of objects as the content of block \"module\", found a bool (write "
        "\"module\": {\"LABEL\": {…}})",
        "f:1:29-1:31 expected an object or an array of objects as the content of block \"module\", found a string "
        "(write \"module\": {\"LABEL\": {…}})"}},
      {"content in an array",
       "{\"terraform\": [{}, 5, [{}, null, 5]]}",
       {"f:1:20-1:21 expected an object or an array of objects as the content of block \"terraform\", found a number "
        "(write \"terraform\": {…})",
        "f:1:28-1:32 expected an object in this array, found null (write \"terraform\": {…})",
        "f:1:34-1:35 expected an object in this array, found a number (write \"terraform\": {…})"}},
      {"item of a root array",
       "[{}, null, []]",
       {"f:1:6-1:10 expected an object in this array, found null",
        "f:1:12-1:13 expected an object in this array, found an array"}},
      {"blocks in blocks",
       "{\"terraform\": {\"backend\": {\"s3\": 1}, \"required_providers\": []}}",
       {"f:1:34-1:35 expected an object or an array of objects as the content of block \"backend\", found a number "
        "(write \"backend\": {\"LABEL\": {…}})"}},
      {"argument twice",
       "{\n\"a\": 1, \"b\": 2, \"\\u0061\": 3}",
       {"f:2:17-2:25 the argument \"a\" is set a second time (keep one of them)"}},
      {"what may be a block twice",
       "{\"a\": {}, \"a\": [{}], \"resource\": {\"a\": {\"b\": {\"c\": {}, \"c\": {}}}}}",
       {}},
      {"what is no block twice",
       "{\"locals\": {\"a\": {}, \"a\": {}}}",
       {"f:1:22-1:25 the argument \"a\" is set a second time (keep one of them)"}},
      {"argument twice in an array",
       "[{\"a\": 1}, {\"a\": 2}]",
       {"f:1:13-1:16 the argument \"a\" is set a second time (keep one of them)"}},
  });
}

BOOST_AUTO_TEST_CASE(the_rest_is_read_on) {
  const ParsedFile file =
      parse_json(R"({"module": {"x": 5, "y": {"a": 1, "a": 2}}, "b": 3, "resource": {"t": 1}, "locals": {}})", "f",
                 test::json_schema());
  BOOST_TEST(file.diagnostics.size() == 3U);
  BOOST_TEST(test::outline(file.body) == "b=3;module<y>{a=1;}locals{}");
}

BOOST_AUTO_TEST_CASE(a_repeated_argument_names_the_first) {
  const ParsedFile file = parse_json(R"({"a": 1, "a": 2})", "f", test::json_schema());
  BOOST_TEST_REQUIRE(file.diagnostics.size() == 1U);
  const Error& error = file.diagnostics[0].what;
  BOOST_TEST_REQUIRE(error.related.size() == 1U);
  BOOST_TEST(error.related[0].message == "it was first set here");
  BOOST_TEST((error.related[0].location == Location{"f", Range{{1, 2, 1}, {1, 5, 4}}}));
}

BOOST_AUTO_TEST_CASE(codes) {
  const ParsedFile config = parse_json("{\"module\": 5}", "f", test::json_schema());
  BOOST_TEST(to_string(config.diagnostics.at(0).what.code) == "CONFIG_PARSE");
  for (const char* text : {"{", "{\"module\": 5}", "\xEF\xBB\xBF{}", "\xFF"}) {
    const ParsedFile lock = parse_json(text, "f", test::json_schema(), {.error_code = Code::lock_parse});
    BOOST_TEST(to_string(lock.diagnostics.at(0).what.code) == "LOCK_PARSE");
  }
}

BOOST_AUTO_TEST_CASE(limits) {
  check({
      {"deepest", "{\"a\":" + repeat("[", 255) + repeat("]", 255) + "}", {}},
      {"brackets",
       repeat("[", 1'000'000),
       {"f:1:257-1:258 this is nested more than 256 levels deep, which is the limit (split it, for example with local "
        "values)"}},
      {"objects",
       repeat("{\"a\":", 1'000'000),
       {"f:1:1281-1:1282 this is nested more than 256 levels deep, which is the limit (split it, for example with "
        "local values)"}},
      {"labels", "{\"module\":{\"" + repeat("x", 1'000) + "\":[" + repeat("{},", 1'000) + "{}]}}", {}},
      {"labels that need much memory",
       "{\"module\":{\"" + repeat("x", 100'000) + "\":[" + repeat("{},", 1'000) + "{}]}}",
       {"f:1:100015-1:100016 the blocks and arguments up to here need more than 10 times the memory of their text (use "
        "lists, "
        "maps and for_each for what is repeated)"}},
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
