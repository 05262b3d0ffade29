#include <boost/test/unit_test.hpp>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

// What OpenTofu 1.12 answers; errors have a place and the words of another parser.
BOOST_AUTO_TEST_CASE(yaml_decode_answer_as_opentofu) {
  const Row rows[] = {
      {"\"\"", "yamldecode", R"([""])", R"(error: on line 1, column 1: missing start of document)"},
      {"\"a: 1\"", "yamldecode", R"(["a: 1"])", R"({"a":1})"},
      {"\"- a\\n- 1\\n- 1.5\\n- 0x1f\\n- 0o17\\n- 010\\n- +5\\n- .5\\n- 1e3\\n- 1_000\\n- -\"", "yamldecode",
       R"(["- a\n- 1\n- 1.5\n- 0x1f\n- 0o17\n- 010\n- +5\n- .5\n- 1e3\n- 1_000\n- -"])",
       R"(["a",1,1.5,31,15,10,5,0.5,1000,"1_000",[null]])"},
      {"\"a: yes\\nb: off\\nc: ~\\nd:\\ne: 'yes'\\nf: \\\"1\\\"\\ng: Null\\nh: y\"", "yamldecode",
       R"(["a: yes\nb: off\nc: ~\nd:\ne: 'yes'\nf: \"1\"\ng: Null\nh: y"])",
       R"({"a":true,"b":false,"c":null,"d":null,"e":"yes","f":"1","g":null,"h":true})"},
      {"\"- 2001-12-14\\n- 2001-12-14t21:59:43.10-05:00\\n- 2001-12-14 21:59:43.1\\n- 2001-13-14\\n- 2001-1-2\"",
       "yamldecode",
       R"(["- 2001-12-14\n- 2001-12-14t21:59:43.10-05:00\n- 2001-12-14 21:59:43.1\n- 2001-13-14\n- 2001-1-2"])",
       R"(["2001-12-14T00:00:00Z","2001-12-14T21:59:43-05:00","2001-12-14T21:59:43Z","2001-13-14","2001-01-02T00:00:00Z"])"},
      {"\"x: &a {k: v, n: [1]}\\ny: *a\\nz:\\n  <<: *a\\n  m: 2\"", "yamldecode",
       R"(["x: &a {k: v, n: [1]}\ny: *a\nz:\n  <<: *a\n  m: 2"])",
       R"({"true":{"false":[1],"k":"v"},"x":{"false":[1],"k":"v"},"z":{"false":[1],"k":"v","m":2}})"},
      {"\"a: !foo 1\"", "yamldecode", R"(["a: !foo 1"])", R"(error: on line 1, column 4: unsupported tag "!foo")"},
      {"\"a: |\\n  x\\n  y\\nb: >-\\n  x\\n  y\\nc: |-\\n  5\"", "yamldecode",
       R"(["a: |\n  x\n  y\nb: >-\n  x\n  y\nc: |-\n  5"])", R"({"a":"x\ny\n","b":"x y","c":"5"})"},
      {"\"- .inf\"", "yamldecode", R"(["- .inf"])",
       R"(error: on line 1, column 3: infinite numbers are not supported)"},
      {"\"- .nan\"", "yamldecode", R"(["- .nan"])",
       R"(error: on line 1, column 3: floating point NaN is not supported)"},
      {"\"[1, {a: b}, ]\"", "yamldecode", R"(["[1, {a: b}, ]"])", R"([1,{"a":"b"}])"},
      {"\"1: a\\ntrue: b\\n2.5: c\"", "yamldecode", R"(["1: a\ntrue: b\n2.5: c"])",
       R"({"1":"a","2.5":"c","true":"b"})"},
      {"\"~: a\"", "yamldecode", R"(["~: a"])", R"(error: on line 1, column 1: mapping key cannot be null)"},
      {"\"? [a]\\n: b\"", "yamldecode", R"(["? [a]\n: b"])",
       R"(error: on line 1, column 3: only strings are allowed as mapping keys)"},
      {"\"a: b: c\"", "yamldecode", R"(["a: b: c"])", R"(error: on line 1, column 5: illegal map value)"},
      {"\"--- 1\\n--- 2\"", "yamldecode", R"(["--- 1\n--- 2"])", R"(error: only a single document is allowed)"},
      {"\"a: 1\\na: x\"", "yamldecode", R"(["a: 1\na: x"])", R"({"a":"x"})"},
      {"\"<<: [{a: 1},{b: 2}]\\nc: 3\"", "yamldecode", R"(["<<: [{a: 1},{b: 2}]\nc: 3"])", R"({"a":1,"b":2,"c":3})"},
      {"\"<<: 1\"", "yamldecode", R"(["<<: 1"])", R"(error: on line 1, column 5: cannot merge number into mapping)"},
      {"\"# only a comment\"", "yamldecode", R"(["# only a comment"])",
       R"(error: on line 1, column 1: missing start of document)"},
      {"\"\\\"a\\\\tb\\\"\"", "yamldecode", R"(["\"a\\tb\""])", R"("a\tb")"},
      {"\"a: [1\"", "yamldecode", R"(["a: [1"])", R"(error: on line 1, column 1: end of sequence flow not found)"},
      {"\"{a: 1, b}\"", "yamldecode", R"(["{a: 1, b}"])", R"({"a":1,"b":null})"},
      {"\"- - 1\\n  - 2\\n- x\"", "yamldecode", R"(["- - 1\n  - 2\n- x"])", R"([[1,2],"x"])"},
      {"\"a: 'it''s'\"", "yamldecode", R"(["a: 'it''s'"])", R"({"a":"it's"})"},
      {"\"k: v # c\"", "yamldecode", R"(["k: v # c"])", R"({"k":"v"})"},
      {"\"date: 2001-12-14 21:59:43 Z\"", "yamldecode", R"(["date: 2001-12-14 21:59:43 Z"])",
       R"({"date":"2001-12-14 21:59:43 Z"})"},
      {"\"- 12e03\\n- -12\\n- 1.\\n- 1..2\\n- 0xzz\\n- 08\"", "yamldecode",
       R"(["- 12e03\n- -12\n- 1.\n- 1..2\n- 0xzz\n- 08"])", R"([12000,-12,1,"1..2","0xzz",8])"},
  };
  check(rows);
}

// yaml-cpp 0.8 adds the name of the anchor.
BOOST_AUTO_TEST_CASE(yaml_decode_names_an_anchor_that_is_not_defined) {
  const std::string found = outcome("yamldecode", call("yamldecode", values(R"(["a: *x"])"), FakeFiles()));
  BOOST_TEST(found.starts_with("error: on line 1, column 4: the referenced anchor is not defined"), found);
}

}  // namespace modlock::eval::test
