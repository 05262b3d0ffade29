#include "protocol/messages/error_json.h"

#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"

namespace modlock {
namespace {

const Range kRange{.start = {.line = 2, .column = 5, .byte = 17}, .end = {.line = 2, .column = 9, .byte = 21}};

BOOST_AUTO_TEST_SUITE(error_json_test)

BOOST_AUTO_TEST_CASE(an_error_with_everything) {
  const Error error{.code = Code::unreachable,
                    .message = "no answer",
                    .subject = "module.vpc",
                    .location = Location{.path = "main.tf", .range = kRange},
                    .related = {{.message = "also here", .location = {"../b.tf", {}}}},
                    .notes = {"while listing"},
                    .hint = "try again",
                    .retry_after = std::chrono::milliseconds(1500)};
  BOOST_TEST(write_json(to_json(error)) ==
             R"({"code":-32803,"data":{"code":"UNREACHABLE","hint":"try again","location":{"end":21,"path":"main.tf",)"
             R"("range":{"end":{"byte":21,"column":9,"line":2},"start":{"byte":17,"column":5,"line":2}},"start":17},)"
             R"("notes":["while listing"],"related":[{"location":{"path":"../b.tf"},"message":"also here"}],)"
             R"("retryAfterMs":1500,"retryable":true,"subject":"module.vpc"},"message":"no answer"})");
}

BOOST_AUTO_TEST_CASE(an_error_with_the_least) {
  BOOST_TEST(write_json(to_json(Error{.code = Code::internal, .message = "m"})) ==
             R"({"code":-32603,"data":{"code":"INTERNAL","notes":[],"retryable":false},"message":"m"})");
}

BOOST_AUTO_TEST_CASE(more_data_is_added) {
  Json::Value more(Json::objectValue);
  more["changes"] = Json::Value(Json::arrayValue);
  BOOST_TEST(write_json(to_json(Error{.code = Code::frozen, .message = "m"}, more)) ==
             R"({"code":-32803,"data":{"changes":[],"code":"FROZEN","notes":[],"retryable":false},"message":"m"})");
}

BOOST_AUTO_TEST_CASE(diagnostics_of_a_result) {
  const Diagnostics diagnostics = {{.severity = Severity::warning,
                                    .what = {.code = Code::lock_unenforced,
                                             .message = "m",
                                             .location = Location{"a.tf", {}},
                                             .related = {{.message = "r", .location = {"b.tf", {}}}},
                                             .notes = {"n"},
                                             .hint = "h"}}};
  BOOST_TEST(write_json(messages::encode(diagnostics)) ==
             R"([{"code":"LOCK_UNENFORCED","hint":"h","location":{"path":"a.tf"},"message":"m","notes":["n"],)"
             R"("related":[{"location":{"path":"b.tf"},"message":"r"}],"severity":"warning"}])");
  BOOST_TEST(write_json(messages::encode(Diagnostics{})) == "[]");
}

BOOST_AUTO_TEST_CASE(numeric_codes) {
  struct Row {
    Code code;
    int number;
  };
  const Row rows[] = {{Code::parse_error, -32700},       {Code::invalid_request, -32600},
                      {Code::message_too_large, -32600}, {Code::duplicate_id, -32600},
                      {Code::shutting_down, -32600},     {Code::method_not_found, -32601},
                      {Code::invalid_params, -32602},    {Code::internal, -32603},
                      {Code::not_initialized, -32002},   {Code::request_cancelled, -32800},
                      {Code::content_modified, -32801},  {Code::server_busy, -32803},
                      {Code::deadline_exceeded, -32803}, {Code::frozen, -32803}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(to_string(row.code)) {
      BOOST_TEST(rpc_code(row.code) == row.number);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
