#include "plugin/hcl/json_syntax.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "plugin/hcl/characters.h"
#include "tests/plugin/hcl/json_schema.h"
#include "tests/plugin/hcl/tree_shape.h"
#include "tests/plugin/hcl/tree_walk.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;
using test::repeat;
using test::show;
using test::slice;

BOOST_AUTO_TEST_SUITE(json_syntax)

struct Row {
  const char* name;
  std::string text;
  const char* outline;
};

template <std::size_t size>
void check(const Row (&rows)[size]) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_json(row.text, "main.tf.json", test::json_schema());
      for (const Diagnostic& diagnostic : file.diagnostics) BOOST_ERROR(test::to_line(diagnostic.what));
      BOOST_TEST(test::outline(file.body) == row.outline);
    }
  }
}

BOOST_AUTO_TEST_CASE(values) {
  check({
      {"empty object", "{}", ""},
      {"blanks", " \t\r\n{ } \n", ""},
      {"literals", R"({"a": true, "b": false, "c": null})", "a=true;b=false;c=null;"},
      {"numbers as written", R"({"a": [0, -0, 1.50, -12e+3, 1E-9, 123456789012345678901234567890]})",
       "a=(tuple 0 -0 1.50 -12e+3 1E-9 123456789012345678901234567890);"},
      {"string", R"({"a": "x"})", R"(a=(json "x");)"},
      {"escapes", R"({"a": "\"\\\/\b\f\n\r\té\u20AC\ud83d\ude00"})", "a=(json \"\"\\/\b\f\n\r\té€😀\");"},
      {"line separator and delete in a string", "{\"a\": \"\u2028\x7f\"}", "a=(json \"\u2028\x7f\");"},
      {"template text is left as it is", R"({"a": "${b}$${c}%{d}"})", R"(a=(json "${b}$${c}%{d}");)"},
      {"nested", R"({"a": {"b": [[], {}, {"c": 1}]}})",
       R"(a=(object (json "b")=(tuple (tuple) (object) (object (json "c")=1)));)"},
      {"order and duplicates of an object's members", R"({"a": {"c": 1, "b": 2, "c": 3}})",
       R"(a=(object (json "c")=1 (json "b")=2 (json "c")=3);)"},
      {"a member // of a value is no comment", R"({"a": {"//": 1}})", R"(a=(object (json "//")=1);)"},
      {"names of any kind", R"({"": 1, "a b": 2, "\u0061": 3})", "=1;a b=2;a=3;"},
  });
  const ParsedFile nul = parse_json(R"({"a": "x\u0000y"})", "main.tf.json", test::json_schema());
  BOOST_TEST_REQUIRE(nul.body.attributes.size() == 1U);
  BOOST_TEST(std::get<JsonString>(nul.body.attributes[0].value.tree().node).text == std::string("x\0y", 3));
}

BOOST_AUTO_TEST_CASE(bodies_and_blocks) {
  check({
      {"root array", R"([{"a": 1}, {}, {"b": 2, "locals": {}}, {"locals": {"c": 3}}])", "a=1;b=2;locals{}locals{c=3;}"},
      {"empty root array", "[]", ""},
      {"comments", R"({"//": 1, "a": 2, "//": {"b": 3}, "locals": {"//": 4}})", "a=2;locals{}"},
      {"block type twice", R"({"locals": {"a": 1}, "b": 2, "locals": {"a": 3}})", "b=2;locals{a=1;}locals{a=3;}"},
      {"array of blocks", R"({"terraform": [{"a": 1}, {}, null, {"a": 2}]})",
       "terraform{a=1;}terraform{}terraform{}terraform{a=2;}"},
      {"empty array of blocks", R"({"terraform": [], "module": {"a": []}})", ""},
      {"null is no block", R"({"terraform": null, "module": {"a": null}})", ""},
      {"body in parts", R"({"terraform": [[{"a": 1}, {"b": 2, "cloud": {}}], []]})",
       "terraform{a=1;b=2;cloud{}}terraform{}"},
      {"label", R"({"module": {"a": {"b": 1}, "c": {}}})", "module<a>{b=1;}module<c>{}"},
      {"label twice", R"({"module": {"a": {"b": 1}, "a": {"b": 2}}})", "module<a>{b=1;}module<a>{b=2;}"},
      {"array of labels", R"({"module": [{"a": {}, "b": {}}, {}, {"a": {}}]})", "module<a>{}module<b>{}module<a>{}"},
      {"array of one label's blocks", R"({"module": {"a": [{"b": 1}, {"b": 2}]}})", "module<a>{b=1;}module<a>{b=2;}"},
      {"two labels", R"({"resource": {"a": {"b": {}, "c": [{}, {}]}, "d": [{"e": {}}]}})",
       "resource<a><b>{}resource<a><c>{}resource<a><c>{}resource<d><e>{}"},
      {"// is a label at a label level", R"({"module": {"//": {"//": 1, "b": 2}}})", "module<//>{b=2;}"},
      {"empty label", R"({"module": {"": {}}})", "module<>{}"},
      {"blocks in blocks", R"({"terraform": {"backend": {"s3": {"x": 1}}, "required_providers": {"a": {"b": 1}}}})",
       R"(terraform{backend<s3>{x=1;}required_providers{a=(object (json "b")=1);}})"},
      {"block words are attributes elsewhere", R"({"locals": {"module": {"a": {}}}})",
       R"(locals{module=(object (json "a")=(object));})"},
      {"unknown words are attributes", R"({"modul": {"a": {}}})", R"(modul=(object (json "a")=(object));)"},
  });
}

BOOST_AUTO_TEST_CASE(ranges) {
  const std::string text =
      "{\r\n  \"module\": {\"é\": [{\"a\": \"b\"}, {}]},\n  \"resource\": {\"t\": {\"n\": {\"x\" : -1}}}\n}\n";
  const ParsedFile file = parse_json(text, "main.tf.json", test::json_schema());
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  BOOST_TEST_REQUIRE(file.body.blocks.size() == 3U);
  const Block& first = file.body.blocks[0];
  BOOST_TEST(show(text, first.labels.at(0).range) == "2:14-2:17 \"é\"");
  BOOST_TEST(show(text, first.header_range) == "2:19-2:20 [");
  BOOST_TEST(show(text, first.range) == "2:20-2:30 {\"a\": \"b\"}");
  const Attribute& a = first.body.attributes.at(0);
  BOOST_TEST(show(text, a.name_range) == "2:21-2:24 \"a\"");
  BOOST_TEST(show(text, a.range()) == "2:21-2:29 \"a\": \"b\"");
  BOOST_TEST(show(text, a.value.range) == "2:26-2:29 \"b\"");
  const Block& second = file.body.blocks[1];
  BOOST_TEST(show(text, second.header_range) == "2:19-2:20 [");
  BOOST_TEST(show(text, second.range) == "2:32-2:34 {}");
  const Block& third = file.body.blocks[2];
  BOOST_TEST(show(text, third.labels.at(0).range) == "3:16-3:19 \"t\"");
  BOOST_TEST(show(text, third.labels.at(1).range) == "3:22-3:25 \"n\"");
  BOOST_TEST(show(text, third.header_range) == "3:27-3:28 {");
  BOOST_TEST(show(text, third.range) == "3:27-3:37 {\"x\" : -1}");
  BOOST_TEST(show(text, third.body.attributes.at(0).range()) == "3:28-3:36 \"x\" : -1");
}

// Every range says the same by line and column as by byte, and holds what it is the range of.
BOOST_AUTO_TEST_CASE(every_range_holds_its_text) {
  const std::string text =
      "[{\"//\": \"x\", \"a👨‍👩‍👧\": [1, {\"b\\n\": \"${c}\\\"\"}]},\r\n"
      " {\"terraform\": [{\"x\": null}, [{\"backend\": {\"\\u00e9\": {\"y\": true}}}]],\n"
      "\t\"resource\": [{\"t\": [{\"n\": [{}, {\"e\xCC\x81\": \"\"}]}]}]}]\n";
  const ParsedFile file = parse_json(text, "main.tf.json", test::json_schema());
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  std::size_t count = 0;
  const auto visit = [&](std::string_view what, const Range& range, const Range& outer) {
    BOOST_TEST_CONTEXT(what << " " << show(text, range)) {
      ++count;
      BOOST_TEST(range.start.byte >= outer.start.byte);
      BOOST_TEST(range.end.byte <= outer.end.byte);
      BOOST_TEST((advance(Position{}, text.substr(0, range.start.byte)) == range.start));
      BOOST_TEST((advance(Position{}, text.substr(0, range.end.byte)) == range.end));
      const std::string held = slice(text, range);
      if (what == "string" || what == "attribute name" || what == "label") {
        BOOST_TEST((held.size() > 1 && held.front() == '"' && held.back() == '"'));
      }
    }
  };
  test::walk_tree(file.body, visit, test::Syntax::json);
  BOOST_TEST(count == 31U);
}

BOOST_AUTO_TEST_CASE(large_texts) {
  struct Large {
    const char* name;
    std::string text;
    std::size_t attributes;
    std::size_t blocks;
  };
  std::string many = "{";
  for (int i = 0; i < 20'000; ++i) many += "\"a" + std::to_string(i) + "\":1,";
  const Large rows[] = {
      {"one long string", "{\"a\": \"" + repeat("x", 10'000'000) + "\"}", 1, 0},
      {"one long string of escapes", "{\"a\": \"" + repeat("\\n", 1'000'000) + "\"}", 1, 0},
      {"one grapheme cluster", "{\"a\": \"e" + repeat("\xCC\x81", 1'000'000) + "\"}", 1, 0},
      {"one long number", "{\"a\": " + repeat("1", 200'000) + "}", 1, 0},
      {"many attributes", many + "\"b\":1}", 20'001, 0},
      {"many blocks", "{\"module\": {\"a\": [" + repeat("{\"b\": \"" + repeat("x", 250) + "\"},", 50'000) + "{}]}}", 0,
       50'001},
      {"many labels",
       "{\"module\": {" + repeat("\"a\": {\"b\": \"" + repeat("x", 250) + "\"},", 50'000) + "\"a\": {}}}", 0, 50'001},
      {"blanks", repeat(" \n", 200'000) + "{}", 0, 0},
  };
  for (const Large& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_json(row.text, "main.tf.json", test::json_schema());
      BOOST_TEST(file.diagnostics.empty());
      BOOST_TEST(file.body.attributes.size() == row.attributes);
      BOOST_TEST(file.body.blocks.size() == row.blocks);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
