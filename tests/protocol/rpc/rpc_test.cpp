#include "protocol/rpc/rpc.h"

#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"

namespace modlock {
namespace {

using Kind = Message::Kind;

Message parse_one(std::string_view line) {
  Incoming incoming = parse_incoming(line);
  BOOST_REQUIRE(!incoming.is_batch);
  BOOST_REQUIRE(incoming.messages.size() == 1U);
  return std::move(incoming.messages.front());
}

BOOST_AUTO_TEST_SUITE(rpc_test)

BOOST_AUTO_TEST_CASE(requests) {
  const Message message =
      parse_one(R"({"jsonrpc":"2.0","id":12345678901234567890123456789,"method":"m","params":{"a":1},"x":2})");
  BOOST_TEST((message.kind == Kind::request));
  BOOST_TEST(message.id->token == "12345678901234567890123456789");
  BOOST_TEST(message.method == "m");
  BOOST_TEST(write_json(message.params) == R"({"a":1})");
  BOOST_TEST(message.progress_token.empty());
  BOOST_TEST(!message.time_allowed);
}

BOOST_AUTO_TEST_CASE(notifications) {
  const Message message = parse_one(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9007199254740993}})");
  BOOST_TEST((message.kind == Kind::notification));
  BOOST_TEST(message.params_id->key == "i9007199254740993");
}

BOOST_AUTO_TEST_CASE(params_are_always_an_object) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","id":1,"method":"m"})", R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{}})"}) {
    BOOST_TEST_CONTEXT(line) {
      const Message message = parse_one(line);
      BOOST_TEST((message.kind == Kind::request));
      BOOST_TEST(write_json(message.params) == "{}");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_message_of_too_many_values_is_answered_under_its_id) {
  std::string line = R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[0)";
  for (int i = 0; i < 1'000'000; ++i) {
    line += ",0";
  }
  const Message message = parse_one(line + "]}}");
  BOOST_TEST((message.kind == Kind::invalid));
  BOOST_TEST(message.id->token == "7");
  BOOST_TEST(to_string(message.error.code) == "LIMIT_EXCEEDED");
  BOOST_TEST(message.error.message == "the JSON text has more than 1,000,000 values");
}

BOOST_AUTO_TEST_CASE(meta) {
  struct Row {
    const char* meta;
    const char* token;
    long allowed;  // -1: none
  };
  const Row rows[] = {
      {"null", "", -1},
      {"{}", "", -1},
      {R"({"progressToken":null,"deadlineMs":null})", "", -1},
      {R"({"progressToken":"p","deadlineMs":0})", "\"p\"", 0},
      {R"({"progressToken":123456789012345678901,"deadlineMs":250,"x":1})", "123456789012345678901", 250},
      {R"({"deadlineMs":18446744073709551615})", "", 31622400000},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.meta) {
      const Message message =
          parse_one(std::string(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":)") + row.meta + "}}");
      BOOST_TEST((message.kind == Kind::request));
      BOOST_TEST(message.progress_token == row.token);
      BOOST_TEST((message.time_allowed ? message.time_allowed->count() : -1) == row.allowed);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_answered_with_an_error) {
  struct Row {
    const char* line;
    const char* id;
    const char* code;
    const char* message;
  };
  const char* const bad_id = "the member \"id\" of a message must be a string or an integer";
  const Row rows[] = {
      {"{", "null", "PARSE_ERROR", "the text is not JSON: byte 1: expected a member name, found the end of the text"},
      {"[{\"jsonrpc\":\"2.0\",\"method\"", "null", "PARSE_ERROR",
       "the text is not JSON: byte 26: expected ':', found the end of the text"},
      {"1", "null", "INVALID_REQUEST", "a message must be an object"},
      {"null", "null", "INVALID_REQUEST", "a message must be an object"},
      {"{}", "null", "INVALID_REQUEST", "the member \"jsonrpc\" of a message must be \"2.0\""},
      {R"({"id":4,"method":"m"})", "4", "INVALID_REQUEST", "the member \"jsonrpc\" of a message must be \"2.0\""},
      {R"({"jsonrpc":"1.0","id":4,"method":"m"})", "4", "INVALID_REQUEST",
       "the member \"jsonrpc\" of a message must be \"2.0\""},
      {R"({"jsonrpc":2.0,"id":4,"method":"m"})", "4", "INVALID_REQUEST",
       "the member \"jsonrpc\" of a message must be \"2.0\""},
      {R"({"jsonrpc":"2.0","id":"x","method":1})", "\"x\"", "INVALID_REQUEST",
       "the member \"method\" of a message must be a string"},
      {R"({"jsonrpc":"2.0","method":1,"params":"bar"})", "null", "INVALID_REQUEST",
       "the member \"method\" of a message must be a string"},
      {R"({"jsonrpc":"2.0","id":1})", "1", "INVALID_REQUEST", "the member \"method\" of a message must be a string"},
      {R"({"jsonrpc":"2.0","id":null,"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":1.0,"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":1e3,"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":true,"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":{},"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":[1],"method":"m"})", "null", "INVALID_REQUEST", bad_id},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":"x"})", "1", "INVALID_REQUEST",
       "the member \"params\" of a message must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})", "1", "INVALID_PARAMS",
       "params must be an object: positional params are not supported"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":1}})", "1", "INVALID_PARAMS",
       "decode: expected an object at params._meta"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1.5}}})", "1", "INVALID_PARAMS",
       "decode: expected a string or an integer at params._meta.progressToken"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"deadlineMs":-1}}})", "1", "INVALID_PARAMS",
       "decode: expected a non-negative integer at params._meta.deadlineMs"},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})", "null", "INVALID_REQUEST",
       "the JSON text is ambiguous: byte 24: the member name \"id\" appears twice in one object"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","method":"n"})", "1", "INVALID_REQUEST",
       "the JSON text is ambiguous: byte 37: the member name \"method\" appears twice in one object"},
      {R"({"jsonrpc":"2.0","id":"\ud800","method":"m"})", "null", "INVALID_REQUEST",
       "the JSON text is ambiguous: byte 23: a lone surrogate, which is not a character"},
      {"[]", "null", "INVALID_REQUEST", "a batch must contain at least one message"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      const Message message = parse_one(row.line);
      BOOST_TEST((message.kind == Kind::invalid));
      BOOST_TEST((message.id ? message.id->token : "null") == row.id);
      BOOST_TEST(to_string(message.error.code) == row.code);
      BOOST_TEST(message.error.message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_answered) {
  struct Row {
    const char* line;
    const char* why;
  };
  const Row rows[] = {
      {R"({"jsonrpc":"2.0","id":1,"result":{}})", "received a response, but no request was sent"},
      {R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}})",
       "received a response, but no request was sent"},
      {R"({"jsonrpc":"2.0","method":"m","params":[1]})",
       "params must be an object: positional params are not supported"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      const Message message = parse_one(row.line);
      BOOST_TEST((message.kind == Kind::ignored));
      BOOST_TEST(message.error.message == row.why);
    }
  }
}

BOOST_AUTO_TEST_CASE(batches) {
  const Incoming incoming =
      parse_incoming(R"([ {"jsonrpc":"2.0","id":7,"method":"a"}, 1, [], {"jsonrpc":"2.0","method":"b"}])");
  BOOST_TEST(incoming.is_batch);
  BOOST_REQUIRE(incoming.messages.size() == 4U);
  BOOST_TEST((incoming.messages[0].kind == Kind::request));
  BOOST_TEST(incoming.messages[0].id->token == "7");
  BOOST_TEST((incoming.messages[1].kind == Kind::invalid));
  BOOST_TEST((incoming.messages[2].kind == Kind::invalid));
  BOOST_TEST((incoming.messages[3].kind == Kind::notification));
}

BOOST_AUTO_TEST_CASE(the_size_of_a_batch_is_limited) {
  const auto batch = [](int items) {
    std::string line = "[1";
    for (int i = 1; i < items; ++i) {
      line += ",1";
    }
    return parse_incoming(line + "]");
  };
  BOOST_TEST(batch(100).messages.size() == 100U);
  const Incoming over = batch(101);
  BOOST_TEST(!over.is_batch);
  BOOST_TEST(over.messages.front().error.message == "a batch may contain at most 100 messages, found 101");
}

BOOST_AUTO_TEST_CASE(encoding) {
  BOOST_TEST(encode_result("\"\\u0061\"", R"({"é":1})") ==
             "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"result\":{\"é\":1}}");
  BOOST_TEST(
      encode_error("null", {.code = Code::parse_error, .message = "m"}) ==
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"data":{"code":"PARSE_ERROR","notes":[],"retryable":false},"message":"m"}})");
  BOOST_TEST(encode_notification("$/progress", "{}") == R"({"jsonrpc":"2.0","method":"$/progress","params":{}})");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(message_id_test)

BOOST_AUTO_TEST_CASE(tokens) {
  struct Row {
    const char* token;
    const char* key;  // null: not an id
  };
  const Row rows[] = {
      {"1", "i1"},
      {"-1", "i-1"},
      {"0", "i0"},
      {"-0", "i0"},
      {"123456789012345678901234567890", "i123456789012345678901234567890"},
      {"\"\"", "s"},
      {"\"1\"", "s1"},
      {"\"a b\"", "sa b"},
      {"\"\\u0061\"", "sa"},
      {"1.0", nullptr},
      {"1.5", nullptr},
      {"1e3", nullptr},
      {"1E3", nullptr},
      {"null", nullptr},
      {"true", nullptr},
      {"{}", nullptr},
      {"[1]", nullptr},
      {"", nullptr},
      {"-", nullptr},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.token) {
      const auto id = parse_message_id(row.token);
      BOOST_TEST(id.has_value() == (row.key != nullptr));
      if (id && row.key != nullptr) {
        BOOST_TEST(id->token == row.token);
        BOOST_TEST(id->key == row.key);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

struct Lines {
  std::vector<std::string> sent;
  Reply::Send send() {
    return [this](std::string line) { sent.push_back(std::move(line)); };
  }
};

BOOST_AUTO_TEST_SUITE(reply_test)

BOOST_AUTO_TEST_CASE(one_answer_only) {
  Lines lines;
  {
    Reply reply("7", lines.send());
    reply.result(Json::Value(true));
    reply.result(Json::Value(false));
    reply.error({.code = Code::internal, .message = "m"});
  }
  BOOST_TEST(lines.sent == std::vector<std::string>{R"({"jsonrpc":"2.0","id":7,"result":true})"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_dropped_reply_answers_for_itself) {
  Lines lines;
  {
    Reply reply("7", lines.send());
    const Reply moved(std::move(reply));
  }
  BOOST_REQUIRE(lines.sent.size() == 1U);
  BOOST_TEST(
      lines.sent[0] ==
      R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"data":{"code":"INTERNAL","hint":"this is a bug in the program: please report it","notes":[],"retryable":false},"message":"the request was dropped without a response"}})");
}

BOOST_AUTO_TEST_CASE(a_result_too_large_for_the_host_is_an_error) {
  for (const std::size_t limit : {43U, 44U}) {
    BOOST_TEST_CONTEXT(limit) {
      Lines lines;
      Reply reply("7", lines.send());
      reply.limit(limit);
      reply.result(Json::Value("12345678"));  // a line of 44 bytes
      BOOST_REQUIRE(lines.sent.size() == 1U);
      const bool too_large =
          lines.sent[0].find("the response has 44 bytes, but the host accepts 43") != std::string::npos;
      BOOST_TEST(too_large == (limit == 43));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_batch_is_one_line_in_the_order_of_its_items) {
  Lines lines;
  const auto batch = std::make_shared<BatchReply>(lines.send());
  const auto first = batch->reserve();
  const auto second = batch->reserve();
  second("2");
  batch->close();
  BOOST_TEST(lines.sent.empty());
  first("1");
  BOOST_TEST(lines.sent == std::vector<std::string>{"[1,2]"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_answered_before_it_is_closed_waits) {
  Lines lines;
  const auto batch = std::make_shared<BatchReply>(lines.send());
  batch->reserve()("1");
  BOOST_TEST(lines.sent.empty());
  batch->reserve()("2");
  batch->close();
  BOOST_TEST(lines.sent == std::vector<std::string>{"[1,2]"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_without_answers_prints_nothing) {
  Lines lines;
  std::make_shared<BatchReply>(lines.send())->close();
  BOOST_TEST(lines.sent.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
