#include "protocol/rpc/method_table.h"

#include <boost/test/unit_test.hpp>

#include <stdexcept>

#include "protocol/base/json.h"

namespace modlock {

namespace {

BOOST_AUTO_TEST_SUITE(method_table_test)

BOOST_AUTO_TEST_CASE(methods_are_called_by_name) {
  MethodTable methods;
  methods.add("b", [](const Json::Value& params, RequestContext&) -> Result<Json::Value> { return params; });
  methods.add("a", [](const Json::Value&, RequestContext&) -> Result<Json::Value> { return fail(Code::frozen, "m"); });
  BOOST_TEST(methods.names() == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST(methods.has("a"));
  BOOST_TEST(!methods.has("c"));
  RequestContext context;
  BOOST_TEST(write_json(methods.call("b", parse_json(R"({"x":1})").value(), context).value()) == R"({"x":1})");
  BOOST_TEST(methods.call("a", {}, context).error().message == "m");
}

BOOST_AUTO_TEST_CASE(unknown_methods) {
  RequestContext context;
  const auto result = MethodTable().call("lock/plan", {}, context);
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "METHOD_NOT_FOUND");
  BOOST_TEST(result.error().message == "method \"lock/plan\" not found");
}

BOOST_AUTO_TEST_CASE(unknown_params_are_listed_in_the_result) {
  MethodTable methods;
  Json::Value answer(Json::objectValue);
  methods.add("m", [&answer](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
    context.unknown_params = {"a", "b.c"};
    return answer;
  });
  RequestContext context;
  BOOST_TEST(write_json(methods.call("m", {}, context).value()) == R"({"_meta":{"unknownParams":["a","b.c"]}})");
  answer = Json::Value(Json::arrayValue);
  BOOST_TEST(write_json(methods.call("m", {}, context).value()) == "[]");
}

BOOST_AUTO_TEST_CASE(exceptions_become_errors) {
  MethodTable methods;
  methods.add("m", [](const Json::Value&, RequestContext&) -> Result<Json::Value> { throw std::runtime_error("oh"); });
  methods.add("n", [](const Json::Value&, RequestContext&) -> Result<Json::Value> { throw 1; });
  RequestContext context;
  const auto known = methods.call("m", {}, context);
  BOOST_REQUIRE(!known);
  BOOST_TEST(to_string(known.error().code) == "INTERNAL");
  BOOST_TEST(known.error().message == "m failed unexpectedly: oh");
  const auto unknown = methods.call("n", {}, context);
  BOOST_REQUIRE(!unknown);
  BOOST_TEST(unknown.error().message == "n failed unexpectedly: an exception of unknown type");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
