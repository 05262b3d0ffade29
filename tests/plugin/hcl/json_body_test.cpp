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

BOOST_AUTO_TEST_SUITE(json_body)

BOOST_AUTO_TEST_CASE(against_the_schema) {
  check({
      {"number for labels",
       "{\"module\": 5, \"locals\": \"x\", \"a\": 1}",
       {"f:1:12-1:13 expected an object whose names are labels of block \"module\", found a number (write \"module\": "
        "{\"LABEL\": {…}})",
        "f:1:25-1:28 expected an object as the content of block \"locals\", found a string (write \"locals\": {…})"}},
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
      {"arguments in an array",
       "{\"locals\": [{}, [{}], null]}",
       {"f:1:17-1:18 expected an object as the content of block \"locals\", found an array (write \"locals\": {…})",
        "f:1:23-1:27 expected an object as the content of block \"locals\", found null (write \"locals\": {…})"}},
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
      {"labels",
       "{\"module\":{\"" + repeat("x", 1'000) + "\":[" + repeat("{},", 1'000) + "{}]}}",
       {"f:1:1208-1:1210 the labels of block \"module\" are too long for how often this array repeats them (give the "
        "blocks short labels)"}},
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
