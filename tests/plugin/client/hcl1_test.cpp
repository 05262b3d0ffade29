#include "plugin/client/hcl1.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(hcl1_syntax)

namespace {

// `a "b" = {c = 1}` as text: keys, then the value, in one line.
std::string shown(const hcl1::Value& value);

std::string shown(const std::vector<hcl1::Item>& items) {
  std::string text;
  for (const hcl1::Item& item : items) {
    for (const std::string& key : item.keys) {
      text += "<" + key + ">";
    }
    text += (item.is_assigned ? "=" : ":") + shown(item.value) + ";";
  }
  return text;
}

std::string shown(const hcl1::Value& value) {
  if (value.kind == hcl1::Value::Kind::object) {
    return "{" + shown(value.items) + "}";
  }
  if (value.kind == hcl1::Value::Kind::list) {
    std::string text;
    for (const hcl1::Value& element : value.elements) {
      text += shown(element) + ",";
    }
    return "[" + text + "]";
  }
  return value.kind == hcl1::Value::Kind::string ? "'" + value.text + "'" : value.text;
}

std::string parsed(std::string_view text) {
  const auto file = hcl1::parse(text, "f");
  return file ? shown(file->items) : file.error().message;
}

struct Row {
  const char* name;
  std::string_view text;
  std::string expected;
};

template <std::size_t N>
void check(const Row (&rows)[N]) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(parsed(row.text) == row.expected);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(items) {
  const Row rows[] = {
      {"nothing", " \n", ""},
      {"an argument", "a = 1", "<a>=1;"},
      {"a block with labels", "a \"b\" c { d = true }", "<a><b><c>:{<d>=true;};"},
      {"an object as an argument", "a = { b = { } }", "<a>={<b>={};};"},
      {"commas between items", "a = 1, b { c = 2, d = 3 }, e = 4", "<a>=1;<b>:{<c>=2;<d>=3;};<e>=4;"},
      {"names with dashes and dots", "a-b.c = -1.5e+3\n\"q r\" = 0x1F", "<a-b.c>=-1.5e+3;<q r>=0x1F;"},
      {"lists", "a = [1, \"x\", [true,], {b = 2},]", "<a>=[1,'x',[true,],{<b>=2;},];"},
      {"comments", "# c\n// c\na /* c\n*/ = 1 # c", "<a>=1;"},
      {"CR before LF", "a = 1\r\nb {\r\n}\r\n", "<a>=1;<b>:{};"},
      {"letters beyond ASCII", "ä = \"ö\"", "<ä>='ö';"},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(strings) {
  const Row rows[] = {
      {"escapes", R"(a = "\a\b\f\n\r\t\v\\\"\x41\u00e4\U0001F600\101")",
       "<a>='\a\b\f\n\r\t\v\\\"Aä\xF0\x9F\x98\x80"
       "A';"},
      {"interpolation is text", R"(a = "x${b "q" {c}\n}y")", "<a>='x${b \"q\" {c}\\n}y';"},
      {"a line end inside it", "a = \"${\n}\"", "<a>='${\n}';"},
      {"dollars", R"(a = "$a$$b")", "<a>='$a$$b';"},
      {"a heredoc", "a = <<EOF\nx\n y\nEOF\nb = 1", "<a>='x\n y\n';<b>=1;"},
      {"an indented heredoc", "a = <<-EOF\n  x\n    y\n  EOF\n", "<a>='x\n  y\n';"},
      {"an indented heredoc with a line that is not", "a = <<-EOF\n  x\n y\n  EOF\n", "<a>='  x\n y\n';"},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(json) {
  const Row rows[] = {
      {"objects", R"({"a": {"b": [1, "x", {"c": null}]}, "a": 2,})", "<a>:{<b>:[1,'x',{<c>:'';},];};<a>:2;"},
      {"what lists lose", R"({"a": [true, [1], "x"]})", "<a>:['x',];"},
      {"interpolation is nothing", R"({"a": "${\"}"})", "<a>:'${\"}';"},
      {"text behind it", "{} x", "f:1:4: text after the JSON object"},
      {"a name without quotes", "{a: 1}", "f:1:2: a name in quotes was expected"},
      {"no colon", R"({"a" 1})", "f:1:6: \":\" was expected"},
      {"no comma", R"({"a": 1 "b": 2})", "f:1:9: \",\" or \"}\" was expected"},
      {"no end", R"({"a": 1)", "f:1:8: \",\" or \"}\" was expected"},
      {"an escaped slash", R"({"a": "\/"})", "f:1:8: an invalid escape sequence"},
      {"a comment", "{ # c\n}", "f:1:3: a character that has no meaning there"},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(faults_have_a_place_and_no_text) {
  const Row rows[] = {
      {"no value", "a =", "f:1:4: a value was expected"},
      {"a word as a value", "a = canary", "f:1:5: a value was expected"},
      {"no end of a block", "a {\n b = 1\n", "f:3:1: the name of an argument or a block was expected"},
      {"a second end", "a {}\n}", "f:2:1: the name of an argument or a block was expected"},
      {"two names before =", "a b = 1", "f:1:5: \"{\" was expected, or \"=\" after a single name"},
      {"no names", "= 1", "f:1:1: the name of an argument or a block was expected"},
      {"set twice", "a { x = \"canary\"\n x = \"canary\" }", "f:2:2: the argument \"x\" is set twice"},
      {"no end of a string", "ä = \"canary\n\"", "f:1:5: a string that does not end"},
      {"an escape that is none", R"(a = "canary\q")", "f:1:12: an invalid escape sequence"},
      {"a surrogate", R"(a = "\ud800")", "f:1:6: an invalid escape sequence"},
      {"an octal over a byte", R"(a = "\777")", "f:1:6: an invalid escape sequence"},
      {"no end of a comment", "/* canary", "f:1:1: a comment that does not end"},
      {"half a comment", "/ canary", "f:1:1: a \"/\" that does not start a comment"},
      {"no end of a heredoc", "a = <<EOF\ncanary\n", "f:1:5: a heredoc that does not end"},
      {"no mark of a heredoc", "a = <<\ncanary\n", "f:1:5: a heredoc without an end mark after \"<<\""},
      {"no comma in a list", "a = [\"canary\" 1]", "f:1:15: \",\" or \"]\" was expected"},
      {"single quotes", "a = 'canary'", "f:1:5: a character that has no meaning there"},
      {"a byte order mark",
       "\xEF\xBB\xBF"
       "a = 1",
       "f:1:1: a byte order mark, which HCL does not allow"},
      {"no UTF-8", "a = \"canary\xFF\"", "f: the byte 11 is not UTF-8"},
      {"a NUL", std::string_view("a = \"x\0\"", 9), "f:1:5: a string that does not end"},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(an_argument_set_twice_where_that_is_taken) {
  const auto file = hcl1::parse("a = 1\na = 2", "f", hcl1::Duplicates::last_counts);
  BOOST_TEST_REQUIRE(file.has_value());
  BOOST_TEST(shown(file->items) == "<a>=1;<a>=2;");
}

BOOST_AUTO_TEST_CASE(nesting_is_bounded) {
  std::string deep = "a = ";
  for (int i = 0; i < 100; ++i) {
    deep += "[";
  }
  BOOST_TEST(parsed(deep) == "f:1:105: a value was expected");
  BOOST_TEST(parsed(deep + "[") == "f:1:105: nesting over 100");
  std::string blocks;
  for (int i = 0; i < 100000; ++i) {
    blocks += "a{";
  }
  BOOST_TEST(parsed(blocks) == "f:1:202: nesting over 100");
}

BOOST_AUTO_TEST_CASE(a_long_text_takes_time_by_its_length) {
  std::string text = "a = [";
  for (int i = 0; i < 300000; ++i) {
    text += "\"x\",";
  }
  text += "]\n";
  std::string labels = "b";
  for (int i = 0; i < 300000; ++i) {
    labels += " c";
  }
  const auto file = hcl1::parse(text + labels + " {}", "f");
  BOOST_TEST_REQUIRE(file.has_value());
  BOOST_TEST(file->items[0].value.elements.size() == 300000U);
  BOOST_TEST(file->items[1].keys.size() == 300001U);
}

BOOST_AUTO_TEST_SUITE_END()
