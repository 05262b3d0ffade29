#include "protocol/base/object_reader.h"

#include <boost/test/unit_test.hpp>

#include <array>
#include <functional>

#include "protocol/base/json.h"

namespace modlock {
namespace {

Json::Value json(std::string_view text) {
  return parse_json(text).value();
}

BOOST_AUTO_TEST_SUITE(object_reader_test)

BOOST_AUTO_TEST_CASE(members_by_type) {
  const Json::Value params = json(
      R"({"s":"x","b":true,"i":-3,"u":7,"l":["a","b"],"m":{"k":"v"},"o":{"p":"q"},"os":[{"n":1},{"n":2}],"any":[1]})");
  ObjectReader in(params);
  BOOST_TEST(in.required_string("s") == "x");
  BOOST_TEST(in.string("s").value() == "x");
  BOOST_TEST(in.one_of("s", std::array<std::string_view, 2>{"x", "y"}).value() == "x");
  BOOST_TEST(in.boolean("b").value());
  BOOST_TEST(in.integer("i").value() == -3);
  BOOST_TEST(in.unsigned_integer("u").value() == 7U);
  BOOST_TEST(in.strings("l").value().at(1) == "b");
  BOOST_TEST(in.string_map("m").value().at("k") == "v");
  BOOST_TEST(in.object("o")->string("p").value() == "q");
  auto items = in.objects("os");
  BOOST_REQUIRE(items.size() == 2U);
  BOOST_TEST(items[0].integer("n").value() == 1);
  BOOST_TEST(items[1].integer("n").value() == 2);
  BOOST_TEST(in.value("any")->isArray());
  BOOST_TEST(in.finish().has_value());
  BOOST_TEST(in.unknown().empty());
}

BOOST_AUTO_TEST_CASE(absent_and_null_are_the_same) {
  const Json::Value params = json(R"({"a":null})");
  for (const char* name : {"a", "b"}) {
    ObjectReader in(params);
    BOOST_TEST(!in.string(name));
    BOOST_TEST(!in.one_of(name, std::array<std::string_view, 1>{"x"}));
    BOOST_TEST(!in.boolean(name));
    BOOST_TEST(!in.integer(name));
    BOOST_TEST(!in.unsigned_integer(name));
    BOOST_TEST(!in.strings(name));
    BOOST_TEST(!in.string_map(name));
    BOOST_TEST(!in.object(name));
    BOOST_TEST(in.objects(name).empty());
    BOOST_TEST(in.value(name) == nullptr);
    BOOST_TEST(in.finish().has_value());
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_path_and_what_was_found) {
  struct Row {
    const char* name;
    const char* params;
    std::function<void(ObjectReader&)> read;
    const char* message;
  };
  const Row rows[] = {
      {"missing", "{}", [](ObjectReader& in) { in.required_string("root"); },
       "decode: expected a string at params.root, found nothing"},
      {"null is missing", R"({"root":null})", [](ObjectReader& in) { in.required_string("root"); },
       "decode: expected a string at params.root, found nothing"},
      {"nested", R"({"lock":{"path":1}})", [](ObjectReader& in) { in.object("lock")->string("path"); },
       "decode: expected a string at params.lock.path, found a number"},
      {"not an object", "[]", [](ObjectReader&) {}, "decode: expected an object at params, found an array"},
      {"object", R"({"lock":"x"})", [](ObjectReader& in) { in.object("lock"); },
       "decode: expected an object at params.lock, found a string"},
      {"boolean", R"({"b":0})", [](ObjectReader& in) { in.boolean("b"); },
       "decode: expected a boolean at params.b, found a number"},
      {"fraction", R"({"i":1.5})", [](ObjectReader& in) { in.integer("i"); },
       "decode: expected an integer at params.i, found a number"},
      {"too large", R"({"i":9223372036854775808})", [](ObjectReader& in) { in.integer("i"); },
       "decode: expected an integer at params.i, found a number"},
      {"negative", R"({"u":-1})", [](ObjectReader& in) { in.unsigned_integer("u"); },
       "decode: expected a non-negative integer at params.u, found a number"},
      {"no list", R"({"l":"a"})", [](ObjectReader& in) { in.strings("l"); },
       "decode: expected an array of strings at params.l, found a string"},
      {"item", R"({"l":["a",false]})", [](ObjectReader& in) { in.strings("l"); },
       "decode: expected a string at params.l[1], found a boolean"},
      {"no map", R"({"m":[]})", [](ObjectReader& in) { in.string_map("m"); },
       "decode: expected an object of strings at params.m, found an array"},
      {"map value", R"({"m":{"k":{}}})", [](ObjectReader& in) { in.string_map("m"); },
       "decode: expected a string at params.m.k, found an object"},
      {"no objects", R"({"os":{}})", [](ObjectReader& in) { in.objects("os"); },
       "decode: expected an array of objects at params.os, found an object"},
      {"null item", R"({"os":[{},null]})", [](ObjectReader& in) { in.objects("os"); },
       "decode: expected an object at params.os[1], found null"},
      {"in an item", R"({"os":[{"n":"x"}]})", [](ObjectReader& in) { in.objects("os")[0].integer("n"); },
       "decode: expected an integer at params.os[0].n, found a string"},
      {"choice", R"({"mode":"slow"})",
       [](ObjectReader& in) {
         in.one_of("mode", std::array<std::string_view, 2>{"missing", "frozen"});
       },
       "decode: expected one of \"missing\", \"frozen\" at params.mode, found \"slow\""},
      {"rejected", R"({"root":"x"})", [](ObjectReader& in) { in.reject("root", "no such directory"); },
       "decode: no such directory at params.root"},
      {"the first wins", R"({"a":1,"b":2})",
       [](ObjectReader& in) {
         in.string("b");
         in.string("a");
         in.reject("a", "x");
       },
       "decode: expected a string at params.b, found a number"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Json::Value params = json(row.params);
      ObjectReader in(params);
      row.read(in);
      const auto ok = in.finish();
      BOOST_REQUIRE(!ok);
      BOOST_TEST(to_string(ok.error().code) == "INVALID_PARAMS");
      BOOST_TEST(ok.error().message == row.message);
      BOOST_TEST(ok.error().hint == "docs/protocol.md describes the params of every method");
    }
  }
}

BOOST_AUTO_TEST_CASE(unknown_members_are_listed_with_their_path) {
  const Json::Value params = json(
      R"({"zz":1,"root":"x","_meta":{"deadlineMs":1},"lock":{"path":"l","pathh":1,"_meta":1},"us":[{},{"colour":1}],"n":{"x":1}})");
  ObjectReader in(params);
  in.required_string("root");
  in.object("lock")->string("path");
  in.objects("us");
  const std::vector<std::string> expected = {"lock._meta", "lock.pathh", "n", "us[1].colour", "zz"};
  BOOST_TEST(in.unknown() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_null_value_is_an_empty_object) {
  const Json::Value nothing;
  ObjectReader in(nothing, "options");
  BOOST_TEST(!in.string("a"));
  BOOST_TEST(in.finish().has_value());
  in.required_string("a");
  BOOST_TEST(in.finish().error().message == "decode: expected a string at options.a, found nothing");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
