#include "protocol/rpc/reply.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

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
      R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"data":{"code":"INTERNAL","hint":"this is a defect of the program: please report it","notes":[],"retryable":false},"message":"the request was dropped without an answer"}})");
}

BOOST_AUTO_TEST_CASE(a_result_too_large_for_the_host_is_an_error) {
  for (const std::size_t limit : {43U, 44U}) {
    BOOST_TEST_CONTEXT(limit) {
      Lines lines;
      Reply reply("7", lines.send());
      reply.limit(limit);
      reply.result(Json::Value("12345678"));  // a line of 44 bytes
      BOOST_REQUIRE(lines.sent.size() == 1U);
      const bool too_large = lines.sent[0].find("the response has 44 bytes, the host takes 43") != std::string::npos;
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
