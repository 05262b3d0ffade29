#include "protocol/rpc/dispatcher.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <condition_variable>
#include <latch>
#include <set>
#include <vector>

#include "protocol/base/json.h"
#include "tests/protocol/rpc/wait_for_stop.h"

namespace modlock {
namespace {

// Collects what a dispatcher sends; waits for it without sleeping.
class Outbox {
 public:
  OutgoingChannel channel() {
    return {.write = [this](std::string line) { add(std::move(line)); },
            .offer = [this](std::string line) { add(std::move(line)); }};
  }
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return lines_.size() >= count; });
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

// "7 result {…}", "7 CODE message"
std::string brief(const std::string& line) {
  const Json::Value value = parse_json(line).value();
  const std::string id = write_json(value["id"]);
  if (value.isMember("result")) {
    return id + " result " + write_json(value["result"]);
  }
  if (value.isMember("error")) {
    return id + " " + value["error"]["data"]["code"].asString() + " " + value["error"]["message"].asString();
  }
  return value["method"].asString() + " " + write_json(value["params"]);
}

// A dispatcher with some methods: echo, fail, stop (waits to be stopped), hold (waits for `release`), progress.
struct Fixture {
  explicit Fixture(WorkerPool::Limits limits = {.workers = 2, .queue = 2}, bool initialized = true)
      : dispatcher(with_methods(), outbox.channel(), limits, null_log(), [] {}) {
    if (initialized) {
      send(R"({"jsonrpc":"2.0","id":0,"method":"initialize"})");
      skip = 1;
    }
  }

  const MethodTable& with_methods() {
    methods.add("initialize", [](const Json::Value& params, RequestContext&) -> Result<Json::Value> {
      if (params.isMember("refuse")) {
        return fail(Code::invalid_params, "refused");
      }
      return Json::Value(Json::objectValue);
    });
    methods.add("rpc.discover", [](const Json::Value&, RequestContext&) -> Result<Json::Value> { return "doc"; });
    methods.add("echo", [](const Json::Value& params, RequestContext&) -> Result<Json::Value> { return params; });
    methods.add("fail", [](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
      context.error_data["changes"] = 3;
      return fail(Code::frozen, "it would change");
    });
    methods.add("stop", [this](const Json::Value& params, RequestContext& context) -> Result<Json::Value> {
      started.count_down();
      test::wait_for_stop(context.stop);
      if (params.isMember("finish")) {
        return Json::Value("finished all the same");
      }
      return fail(Code::io_error, "cut short");
    });
    methods.add("hold", [this](const Json::Value&, RequestContext&) -> Result<Json::Value> {
      started.count_down();
      release.wait();
      return Json::Value("held");
    });
    methods.add("limit", [](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
      return Json::Value(Json::UInt64(context.max_result_bytes));
    });
    methods.add("progress", [](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
      context.progress->report("too soon to be told", 1, 2);
      return Json::Value();
    });
    methods.add("log", [](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
      context.log->write(LogLevel::info, "told");
      return Json::Value();
    });
    return methods;
  }

  void send(std::string_view line) { dispatcher.handle_line(line); }

  // The next line that is not told yet.
  std::string next() { return brief(raw()); }
  std::string raw() {
    ++skip;
    return outbox.wait_for(skip)[skip - 1];
  }

  MethodTable methods;
  Outbox outbox;
  std::latch started{1};
  std::latch release{1};
  std::size_t skip = 0;
  Dispatcher dispatcher;
};

BOOST_AUTO_TEST_SUITE(dispatcher_test)

BOOST_AUTO_TEST_CASE(requests_get_one_response_each) {
  struct Row {
    const char* line;
    const char* response;
  };
  const Row rows[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}})", R"(1 result {"a":1})"},
      {R"({"jsonrpc":"2.0","id":"","method":"echo"})", R"("" result {})"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", "1 result {}"},
      {R"({"jsonrpc":"2.0","id":1,"method":"nonsense"})", R"(1 METHOD_NOT_FOUND method "nonsense" not found)"},
      {R"({"jsonrpc":"2.0","id":1,"method":"$/x"})", R"(1 METHOD_NOT_FOUND method "$/x" not found)"},
      {R"({"jsonrpc":"2.0","id":1,"method":"rpc.x"})", R"(1 METHOD_NOT_FOUND method "rpc.x" not found)"},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize"})", "1 INVALID_REQUEST initialize was sent a second time"},
      {R"({"jsonrpc":"2.0","id":1,"method":"echo","params":[]})",
       "1 INVALID_PARAMS params must be an object: positional params are not supported"},
      {R"({"jsonrpc":"2.0","id":1.0,"method":"echo"})",
       R"(null INVALID_REQUEST the member "id" of a message must be a string or an integer)"},
      {R"({"jsonrpc":"2.0","id":1,"method":"log/setLevel","params":{"level":"debug"}})", "1 result {}"},
      {R"({"jsonrpc":"2.0","id":1,"method":"log/setLevel","params":{"level":"x"}})",
       R"(1 INVALID_PARAMS decode: expected one of "error", "warning", "info", "debug" at params.level, found "x")"},
      {R"({"jsonrpc":"2.0","id":1,"method":"log/setLevel"})",
       "1 INVALID_PARAMS decode: expected a string at params.level, found nothing"},
      {R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"deadlineMs":0}}})",
       "1 DEADLINE_EXCEEDED the deadline of the request passed while it waited in the queue"},
      {"{", "null PARSE_ERROR the text is not JSON: byte 1: expected a member name, found the end of the text"},
      {"[]", "null INVALID_REQUEST a batch must contain at least one message"},
  };
  Fixture f;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      f.send(row.line);
      BOOST_TEST(f.next() == row.response);
    }
  }
}

BOOST_AUTO_TEST_CASE(long_ids_come_back_whole) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"echo"})");
  BOOST_TEST(f.raw() == R"({"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{}})");
}

BOOST_AUTO_TEST_CASE(errors_carry_more_data) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"fail"})");
  BOOST_TEST(
      f.raw() ==
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32803,"data":{"changes":3,"code":"FROZEN","notes":[],"retryable":false},"message":"it would change"}})");
}

BOOST_AUTO_TEST_CASE(notifications_get_no_response) {
  Fixture f;
  for (const char* line :
       {R"({"jsonrpc":"2.0","method":"echo"})", R"({"jsonrpc":"2.0","method":"nonsense"})",
        R"({"jsonrpc":"2.0","method":"$/x"})", R"({"jsonrpc":"2.0","method":"initialized"})",
        R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}})",
        R"({"jsonrpc":"2.0","method":"$/cancelRequest"})", R"({"jsonrpc":"2.0","method":"echo","params":[1]})",
        R"({"jsonrpc":"2.0","method":"log/setLevel","params":{"level":1}})", R"({"jsonrpc":"2.0","id":5,"result":1})",
        R"([{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"exit"}])"}) {
    f.send(line);
  }
  BOOST_TEST(!f.dispatcher.exit_requested());
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  BOOST_TEST(f.next() == "1 result {}");
}

BOOST_AUTO_TEST_CASE(before_and_after) {
  Fixture f({}, false);
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"echo"})");
  BOOST_TEST(f.next() == "1 NOT_INITIALIZED echo was sent before initialize");
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  BOOST_TEST(f.next() == "2 result {}");
  f.send(R"({"jsonrpc":"2.0","id":3,"method":"rpc.discover"})");
  BOOST_TEST(f.next() == R"(3 result "doc")");
  f.send(R"({"jsonrpc":"2.0","id":4,"method":"initialize","params":{"refuse":1}})");
  BOOST_TEST(f.next() == "4 INVALID_PARAMS refused");
  f.send(R"({"jsonrpc":"2.0","id":5,"method":"initialize","params":{"processId":"x"}})");
  BOOST_TEST(f.next() == "5 INVALID_PARAMS decode: expected an integer at params.processId, found a string");
  f.send(R"({"jsonrpc":"2.0","id":6,"method":"initialize","params":{"processId":77}})");
  BOOST_TEST(f.next() == "6 result {}");
  BOOST_TEST(f.dispatcher.host_process().value() == 77);
  f.send(R"({"jsonrpc":"2.0","id":7,"method":"shutdown"})");
  BOOST_TEST(f.next() == "7 result null");
  f.send(R"({"jsonrpc":"2.0","id":8,"method":"echo"})");
  BOOST_TEST(f.next() == "8 SHUTTING_DOWN echo was sent after shutdown");
  f.send(R"({"jsonrpc":"2.0","method":"exit"})");
  BOOST_TEST(f.dispatcher.exit_requested());
  BOOST_TEST(f.dispatcher.is_shut_down());
}

BOOST_AUTO_TEST_CASE(batches) {
  struct Row {
    const char* name;
    const char* line;
    std::vector<std::string> responses;
  };
  const Row rows[] = {
      {"no message", "[1]", {"null INVALID_REQUEST a message must be an object"}},
      {"a batch in a batch", "[[]]", {"null INVALID_REQUEST a message must be an object"}},
      {"in the order of the items",
       R"([{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"},7])",
       {"1 result {}", "2 result {}", "null INVALID_REQUEST a message must be an object"}},
      {"duplicate ids",
       R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"echo"}])",
       {"1 result {}", "1 DUPLICATE_ID the id 1 belongs to a request in flight"}},
      {"lifecycle methods",
       R"([{"jsonrpc":"2.0","id":1,"method":"shutdown"},{"jsonrpc":"2.0","id":2,"method":"initialize"}])",
       {"1 INVALID_REQUEST shutdown must not be part of a batch",
        "2 INVALID_REQUEST initialize must not be part of a batch"}},
      {"cancelled within",
       R"([{"jsonrpc":"2.0","id":1,"method":"stop"},{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}},{"jsonrpc":"2.0","id":2,"method":"ping"}])",
       {"1 REQUEST_CANCELLED the request was cancelled", "2 result {}"}},
  };
  Fixture f;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      f.send(row.line);
      const Json::Value items = parse_json(f.raw()).value();
      std::vector<std::string> responses;
      for (const Json::Value& item : items) {
        responses.push_back(brief(write_json(item)));
      }
      BOOST_TEST(responses == row.responses, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_at_work_is_cancelled) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":"a","method":"stop"})");
  f.started.wait();
  f.send(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"\u0061"}})");
  BOOST_TEST(f.raw().find(R"("id":"a","error":{"code":-32800,)") != std::string::npos);
  f.send(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}})");
  f.send(R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
  BOOST_TEST(f.next() == R"("a" result {})");
}

BOOST_AUTO_TEST_CASE(a_result_that_won_the_race_against_its_cancellation_is_sent) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"stop","params":{"finish":true}})");
  f.started.wait();
  f.send(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}})");
  BOOST_TEST(f.next() == R"(1 result "finished all the same")");
}

BOOST_AUTO_TEST_CASE(the_queue_has_an_end_and_cancellation_overtakes_it) {
  Fixture f({.workers = 1, .queue = 1});
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"hold"})");
  f.started.wait();
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"echo"})");
  f.send(R"({"jsonrpc":"2.0","id":3,"method":"echo"})");
  BOOST_TEST(
      f.raw() ==
      R"({"jsonrpc":"2.0","id":3,"error":{"code":-32803,"data":{"code":"SERVER_BUSY","hint":"send it again after other requests were answered","notes":[],"retryAfterMs":1000,"retryable":true},"message":"too many requests are waiting"}})");
  f.send(R"({"jsonrpc":"2.0","id":4,"method":"ping"})");
  BOOST_TEST(f.next() == "4 result {}");
  f.send(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}})");
  BOOST_TEST(f.next() == "2 REQUEST_CANCELLED the request was cancelled");
  BOOST_TEST(!f.dispatcher.is_idle());
  f.release.count_down();
  BOOST_TEST(f.next() == R"(1 result "held")");
}

BOOST_AUTO_TEST_CASE(an_id_in_flight_is_taken) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"hold"})");
  f.started.wait();
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"echo"})");
  BOOST_TEST(f.next() == "1 DUPLICATE_ID the id 1 belongs to a request in flight");
  f.send(R"({"jsonrpc":"2.0","id":"1","method":"echo"})");
  BOOST_TEST(f.next() == R"("1" result {})");
  f.release.count_down();
  BOOST_TEST(f.next() == R"(1 result "held")");
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"echo"})");
  BOOST_TEST(f.next() == "1 result {}");
}

BOOST_AUTO_TEST_CASE(a_progress_token_in_flight_is_taken) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"hold","params":{"_meta":{"progressToken":"t"}}})");
  f.started.wait();
  BOOST_TEST(f.next() == R"($/progress {"token":"t","value":{"kind":"begin","title":"hold"}})");
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"echo","params":{"_meta":{"progressToken":"t"}}})");
  BOOST_TEST(f.next() == "2 INVALID_PARAMS the progress token \"t\" belongs to a request in flight");
  f.release.count_down();
  BOOST_TEST(f.next() == R"($/progress {"token":"t","value":{"kind":"end"}})");
  BOOST_TEST(f.next() == R"(1 result "held")");
}

BOOST_AUTO_TEST_CASE(progress_is_told_to_who_asked) {
  Fixture f;
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"progress"})");
  BOOST_TEST(f.next() == "1 result null");
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"progress","params":{"_meta":{"progressToken":5}}})");
  BOOST_TEST(f.next() == R"($/progress {"token":5,"value":{"kind":"begin","title":"progress"}})");
  BOOST_TEST(f.next() == R"($/progress {"token":5,"value":{"kind":"end"}})");
  BOOST_TEST(f.next() == "2 result null");
}

BOOST_AUTO_TEST_CASE(the_log_is_told_to_who_asked) {
  Fixture f({}, false);
  f.send(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"logMessage":true},"options":{"logLevel":"info"}}})");
  BOOST_TEST(f.next() == "1 result {}");
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"log"})");
  BOOST_TEST(f.next() == R"(log/message {"level":"info","message":"told"})");
  BOOST_TEST(f.next() == "2 result null");
  f.send(R"({"jsonrpc":"2.0","method":"log/setLevel","params":{"level":"error"}})");
  f.send(R"({"jsonrpc":"2.0","id":3,"method":"log"})");
  BOOST_TEST(f.next() == "3 result null");
}

BOOST_AUTO_TEST_CASE(the_host_limits_the_size_of_responses) {
  Fixture f({}, false);
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"limits":{"maxMessageBytes":50}}})");
  BOOST_TEST(f.next() == "1 result {}");
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"echo","params":{"a":"01234567890123456789"}})");
  BOOST_TEST(f.next() == "2 LIMIT_EXCEEDED the response has 62 bytes, but the host accepts 50");
  // Methods know what remains for the result.
  f.send(R"({"jsonrpc":"2.0","id":3,"method":"limit"})");
  BOOST_TEST(f.next() == "3 result 16");
  Fixture unlimited;
  unlimited.send(R"({"jsonrpc":"2.0","id":3,"method":"limit"})");
  BOOST_TEST(unlimited.next() == "3 result 0");
}

BOOST_AUTO_TEST_CASE(oversized_lines_are_answered) {
  Fixture f;
  f.dispatcher.handle_too_large(8);
  BOOST_TEST(f.next() == "null MESSAGE_TOO_LARGE a line was longer than 8 bytes and was discarded");
}

BOOST_AUTO_TEST_CASE(all_in_flight_are_cancelled_at_once) {
  Fixture f({.workers = 1, .queue = 9});
  f.send(R"({"jsonrpc":"2.0","id":1,"method":"stop"})");
  f.started.wait();
  f.send(R"({"jsonrpc":"2.0","id":2,"method":"echo"})");
  f.send(R"({"jsonrpc":"2.0","id":3,"method":"echo"})");
  f.dispatcher.cancel_all();
  std::vector<std::string> responses = {f.next(), f.next(), f.next()};
  std::sort(responses.begin(), responses.end());
  for (std::size_t i = 0; i < responses.size(); ++i) {
    BOOST_TEST(responses[i] == std::to_string(i + 1) + " REQUEST_CANCELLED the request was cancelled");
  }
}

BOOST_AUTO_TEST_CASE(a_hundred_requests_at_once) {
  Fixture f({.workers = 8, .queue = 256});
  for (int i = 1; i <= 100; ++i) {
    f.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"echo"})");
  }
  std::set<std::string> responses;
  for (int i = 0; i < 100; ++i) {
    responses.insert(f.next());
  }
  BOOST_TEST(responses.size() == 100U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(lifecycle_test)

BOOST_AUTO_TEST_CASE(who_is_welcome_when) {
  struct Row {
    const char* method;
    const char* fresh;
    const char* ready;
    const char* in_batch;  // while ready
  };
  const char* const batch = "INVALID_REQUEST";
  const Row rows[] = {
      {"initialize", "", "INVALID_REQUEST", batch},
      {"rpc.discover", "", "", ""},
      {"ping", "", "", ""},
      {"lock/plan", "NOT_INITIALIZED", "", ""},
      {"nonsense", "NOT_INITIALIZED", "", ""},
      {"log/setLevel", "NOT_INITIALIZED", "", ""},
      {"shutdown", "NOT_INITIALIZED", "", batch},
      {"exit", "INVALID_REQUEST", "INVALID_REQUEST", batch},
      {"initialized", "INVALID_REQUEST", "INVALID_REQUEST", batch},
      {"$/cancelRequest", "INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST"},
  };
  const auto code = [](const Result<void>& admitted) {
    return std::string(admitted ? "" : to_string(admitted.error().code));
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.method) {
      Lifecycle lifecycle;
      BOOST_TEST(code(lifecycle.admit(row.method, false)) == row.fresh);
      lifecycle.initialized();
      BOOST_TEST(code(lifecycle.admit(row.method, false)) == row.ready);
      BOOST_TEST(code(lifecycle.admit(row.method, true)) == row.in_batch);
      BOOST_TEST(!lifecycle.is_shut_down());
      lifecycle.shut_down();
      BOOST_TEST(code(lifecycle.admit(row.method, false)) == "SHUTTING_DOWN");
      BOOST_TEST(lifecycle.is_shut_down());
    }
  }
}

BOOST_AUTO_TEST_CASE(messages) {
  Lifecycle lifecycle;
  BOOST_TEST(lifecycle.admit("lock/plan", false).error().message == "lock/plan was sent before initialize");
  BOOST_TEST(lifecycle.admit("exit", false).error().message == "exit is a notification");
  BOOST_TEST(lifecycle.admit("initialize", true).error().message == "initialize must not be part of a batch");
  lifecycle.initialized();
  BOOST_TEST(lifecycle.admit("initialize", false).error().message == "initialize was sent a second time");
  lifecycle.shut_down();
  BOOST_TEST(lifecycle.admit("ping", false).error().message == "ping was sent after shutdown");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
