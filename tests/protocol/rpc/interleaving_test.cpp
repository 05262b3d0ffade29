// Requests, cancellations and progress in any order, by chance: whatever comes when, each request gets one response,
// and nothing is said about it afterwards.
#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "protocol/base/json.h"
#include "protocol/rpc/dispatcher.h"
#include "tests/protocol/rpc/wait_for_stop.h"

namespace modlock {
namespace {

constexpr int kInterleavings = 10'000;
constexpr int kPerSession = 200;

// What a dispatcher said, in order.
class Said {
 public:
  OutgoingChannel channel() {
    return {.write = [this](std::string line) { add(std::move(line)); },
            .offer = [this](std::string line) { add(std::move(line)); }};
  }
  void idle() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  std::vector<std::string> take_when(const Dispatcher& dispatcher) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return dispatcher.is_idle(); });
    return std::move(lines_);
  }

 private:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

MethodTable table() {
  MethodTable methods;
  methods.add("initialize", [](const Json::Value&, RequestContext&) -> Result<Json::Value> {
    return Json::Value(Json::objectValue);
  });
  methods.add("quick", [](const Json::Value&, RequestContext&) -> Result<Json::Value> { return Json::Value(1); });
  methods.add("report", [](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
    context.progress->report("on its way", 1, 2);
    return Json::Value(2);
  });
  methods.add("wait", [](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
    test::wait_for_stop(context.stop);
    return fail(Code::io_error, "cut short");
  });
  return methods;
}

// One interleaving: some requests under the ids 1 to n, cancellations of any of them and of others at any time.
int send_some(Dispatcher& dispatcher, std::mt19937& chance) {
  const auto below = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(chance); };
  const auto cancel = [&](int id) {
    dispatcher.handle_line(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":)" + std::to_string(id) +
                           "}}");
  };
  constexpr const char* kMethods[] = {"quick", "report", "wait", "ping", "nonsense"};
  const int requests = 1 + below(6);
  for (int id = 1; id <= requests; ++id) {
    const std::string meta = below(2) == 0 ? "" : R"("_meta":{"progressToken":)" + std::to_string(id) + "}";
    const std::string line = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + kMethods[below(5)] +
                             R"(","params":{)" + meta + "}}";
    dispatcher.handle_line(line);
    if (below(3) == 0) {
      cancel(1 + below(requests + 1));
    }
  }
  for (int id = requests; id >= 1; --id) {
    cancel(id);  // or `wait` would never end
  }
  return requests;
}

// Empty, or what was wrong with what was said about one interleaving.
std::string judge(const std::vector<std::string>& lines, int requests) {
  std::map<int, int> responses;
  std::map<int, std::string> progress;
  for (const std::string& line : lines) {
    const Json::Value message = parse_json(line).value();
    if (message.isMember("method")) {
      const int token = message["params"]["token"].asInt();
      const char kind = message["params"]["value"]["kind"].asString()[0];
      progress[token] += kind;
      if (responses.count(token) != 0) {
        return "progress after the response: " + line;
      }
      continue;
    }
    const int id = message["id"].asInt();
    const std::string told = progress[id];
    if (++responses[id] > 1 || id < 1 || id > requests) {
      return "a second response, or one to nobody: " + line;
    }
    if (!told.empty() && told != "be" && told != "bre") {
      return "progress was \"" + told + "\" before " + line;
    }
  }
  return static_cast<int>(responses.size()) == requests ? "" : "a request without response";
}

BOOST_AUTO_TEST_SUITE(interleaving_test)

BOOST_AUTO_TEST_CASE(ten_thousand_interleavings) {
  const char* given = std::getenv("MODLOCK_TEST_SEED");
  const unsigned seed = given == nullptr ? std::random_device{}() : static_cast<unsigned>(std::stoul(given));
  BOOST_TEST_MESSAGE("MODLOCK_TEST_SEED=" << seed);
  std::mt19937 chance(seed);
  const MethodTable methods = table();
  for (int session = 0; session < kInterleavings / kPerSession; ++session) {
    Said said;
    Dispatcher dispatcher(methods, said.channel(), {.workers = 3, .queue = 4}, null_log(), [&] { said.idle(); });
    dispatcher.handle_line(R"({"jsonrpc":"2.0","id":0,"method":"initialize"})");
    (void)said.take_when(dispatcher);
    for (int i = 0; i < kPerSession; ++i) {
      const int requests = send_some(dispatcher, chance);
      const std::string wrong = judge(said.take_when(dispatcher), requests);
      BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong << " (MODLOCK_TEST_SEED=" << seed << ")");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
