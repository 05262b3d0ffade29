#include "protocol/rpc/serve.h"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <future>
#include <latch>
#include <thread>

#include "tests/protocol/rpc/pipe.h"
#include "tests/protocol/rpc/wait_for_stop.h"

namespace modlock {
namespace {

using namespace std::chrono_literals;
using test::Pipe;

constexpr std::string_view kInitialize = R"({"jsonrpc":"2.0","id":0,"method":"initialize"})"
                                         "\n";
constexpr std::string_view kInitialized = R"({"jsonrpc":"2.0","id":0,"result":{}})"
                                          "\n";
constexpr std::string_view kCancelled =
    R"({"jsonrpc":"2.0","id":1,"error":{"code":-32800,"data":{"code":"REQUEST_CANCELLED","notes":[],"retryable":true},"message":"the request was cancelled"}})"
    "\n";

// A session in a thread, with methods: echo, stop (waits to be stopped), hold (waits for `release`).
class Server {
 public:
  explicit Server(ServeOptions options = {}) {
    options.in_fd = in.reader();
    options.out_fd = out.writer();
    methods_.add("initialize", [](const Json::Value&, RequestContext&) -> Result<Json::Value> {
      return Json::Value(Json::objectValue);
    });
    methods_.add("echo", [](const Json::Value& params, RequestContext&) -> Result<Json::Value> { return params; });
    methods_.add("stop", [this](const Json::Value&, RequestContext& context) -> Result<Json::Value> {
      started.count_down();
      test::wait_for_stop(context.stop);
      return fail(Code::io_error, "cut short");
    });
    methods_.add("hold", [this](const Json::Value&, RequestContext&) -> Result<Json::Value> {
      started.count_down();
      release.wait();
      return Json::Value("held");
    });
    std::packaged_task<int()> task([this, options] { return serve(methods_, options); });
    exit_code_ = task.get_future();
    thread_ = std::thread([this, task = std::move(task)]() mutable {
      task();
      out.close_writer();
    });
  }
  ~Server() {
    in.close_writer();
    thread_.join();
  }

  int exit_code() { return exit_code_.get(); }
  // As a shell would do it: to the thread that serves, for this process has others.
  void signal(int number) { ::pthread_kill(thread_.native_handle(), number); }

  Pipe in;
  Pipe out;
  std::latch started{1};
  std::latch release{1};

 private:
  MethodTable methods_;
  std::future<int> exit_code_;
  std::thread thread_;
};

BOOST_AUTO_TEST_SUITE(serve_test)

BOOST_AUTO_TEST_CASE(what_was_read_before_the_end_is_answered) {
  Server server;
  server.in.send(std::string(kInitialize) + R"({"jsonrpc":"2.0","id":1,"method":"hold"})" + "\n" +
                 R"({"jsonrpc":"2.0","id":"é","method":"ping"})");
  server.in.close_writer();
  server.started.wait();
  server.release.count_down();
  BOOST_TEST(server.exit_code() == 0);
  const std::string all = server.out.receive_all();
  BOOST_TEST(all.find(kInitialized) == 0U);
  BOOST_TEST(all.find("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"held\"}\n") != std::string::npos);
  BOOST_TEST(all.find("{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"result\":{}}\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_hundred_queued_requests_are_answered_after_the_end) {
  Server server;
  std::string lines(kInitialize);
  for (int i = 1; i <= 100; ++i) {
    lines += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"echo"})" + "\r\n";
  }
  server.in.send(lines);
  server.in.close_writer();
  BOOST_TEST(server.exit_code() == 0);
  const std::string all = server.out.receive_all();
  BOOST_TEST(std::count(all.begin(), all.end(), '\n') == 101);
}

BOOST_AUTO_TEST_CASE(the_session_survives_every_bad_line) {
  Server server({.max_message_bytes = 200});
  const std::string lines[] = {"{",
                               "\xEF\xBB\xBF{}",
                               "{\"a\":\"\xFF\"}",
                               std::string("{\"a\":\"\0\"}", 9),
                               std::string(150, '['),
                               std::string(201, 'x'),
                               std::string(300'000, 'x'),
                               R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
                               "[]",
                               "1"};
  for (const std::string& line : lines) {
    server.in.send(line + "\n");
    BOOST_TEST(server.out.receive_line().find(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32)") == 0U);
    server.in.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    BOOST_TEST(server.out.receive_line() == "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
  }
}

BOOST_AUTO_TEST_CASE(shutdown_and_exit) {
  Server server;
  server.in.send(std::string(kInitialize) +
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hold\"}\n"
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\"}\n"
                 "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}\n"
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n");
  server.started.wait();
  server.release.count_down();
  BOOST_TEST(server.exit_code() == 0);
  const std::string all = server.out.receive_all();
  BOOST_TEST(all.find("\"id\":1,\"result\":\"held\"") != std::string::npos);
  BOOST_TEST(all.find("\"id\":2,\"result\":null") != std::string::npos);
  BOOST_TEST(all.find("\"id\":3") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(exit_without_shutdown_cancels) {
  Server server;
  server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}\n");
  server.started.wait();
  server.in.send("{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}\n");
  BOOST_TEST(server.exit_code() == 1);
  BOOST_TEST(server.out.receive_all() == std::string(kInitialized) + std::string(kCancelled));
}

BOOST_AUTO_TEST_CASE(past_the_drain_time_requests_are_cancelled) {
  Server server({.drain = 0ms});
  server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}\n");
  server.started.wait();
  server.in.close_writer();
  BOOST_TEST(server.exit_code() == 1);
  BOOST_TEST(server.out.receive_all() == std::string(kInitialized) + std::string(kCancelled));
}

BOOST_AUTO_TEST_CASE(signals_cancel_and_answer) {
  for (const int number : {SIGTERM, SIGINT}) {
    BOOST_TEST_CONTEXT(number) {
      Server server;
      server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}\n");
      server.started.wait();
      server.signal(number);
      BOOST_TEST(server.exit_code() == 128 + number);
      BOOST_TEST(server.out.receive_all() == std::string(kInitialized) + std::string(kCancelled));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_handler_that_does_not_stop_is_abandoned) {
  std::latch* release = nullptr;
  std::promise<int> abandoned;
  Server server({.cancel_grace = 0ms, .abandon = [&](int code) {
                   abandoned.set_value(code);
                   release->count_down();
                 }});
  release = &server.release;
  server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hold\"}\n");
  server.started.wait();
  server.signal(SIGTERM);
  BOOST_TEST(abandoned.get_future().get() == 143);
  BOOST_TEST(server.exit_code() == 143);
}

BOOST_AUTO_TEST_CASE(a_second_signal_does_not_wait) {
  std::latch* release = nullptr;
  std::promise<int> abandoned;
  Server server({.cancel_grace = 1h, .abandon = [&](int code) {
                   abandoned.set_value(code);
                   release->count_down();
                 }});
  release = &server.release;
  server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hold\"}\n");
  server.started.wait();
  server.signal(SIGTERM);
  server.signal(SIGINT);
  const int code = abandoned.get_future().get();
  // Of two signals that wait the kernel gives the lower number first.
  BOOST_TEST((code == 143 || code == 130));
  BOOST_TEST(server.exit_code() == code);
}

BOOST_AUTO_TEST_CASE(a_host_that_is_gone_ends_the_session) {
  const pid_t host = ::fork();
  if (host == 0) {
    ::pause();
    ::_exit(0);
  }
  {
    Server server;
    server.in.send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"processId\":" +
                   std::to_string(host) + "}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}\n");
    server.started.wait();
    ::kill(host, SIGKILL);
    BOOST_TEST(server.exit_code() == 1);
    BOOST_TEST(server.out.receive_all() == std::string(kInitialized) + std::string(kCancelled));
  }
  ::waitpid(host, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(a_reader_who_is_gone_ends_the_session_quietly) {
  Server server;
  server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}\n");
  server.started.wait();
  BOOST_TEST(server.out.receive_line() == kInitialized);
  server.out.close_reader();
  server.in.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
  BOOST_TEST(server.exit_code() == 1);
}

BOOST_AUTO_TEST_CASE(a_reader_who_is_gone_is_noticed_although_nothing_is_written) {
  for (const bool has_ended : {false, true}) {
    BOOST_TEST_CONTEXT((has_ended ? "after the end of input" : "before it")) {
      Server server;
      server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}\n");
      server.started.wait();
      BOOST_TEST(server.out.receive_line() == kInitialized);
      if (has_ended) {
        server.in.close_writer();
      }
      server.out.close_reader();
      BOOST_TEST(server.exit_code() == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_a_reader_a_handler_that_does_not_stop_is_abandoned_soon) {
  std::latch* release = nullptr;
  std::promise<int> abandoned;
  Server server({.cancel_grace = 1h, .unread_grace = 0ms, .abandon = [&](int code) {
                   abandoned.set_value(code);
                   release->count_down();
                 }});
  release = &server.release;
  server.in.send(std::string(kInitialize) + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hold\"}\n");
  server.started.wait();
  server.out.close_reader();
  BOOST_TEST(abandoned.get_future().get() == 1);
  BOOST_TEST(server.exit_code() == 1);
}

BOOST_AUTO_TEST_CASE(a_host_that_does_not_read_is_not_read_either) {
  Server server;
  server.in.send(kInitialize);
  // More than the backlog takes; every response is as large as its request.
  const std::string padding(1'000'000, 'x');
  std::thread host([&] {
    for (int i = 1; i <= 20; ++i) {
      server.in.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"echo","params":{"p":")" + padding +
                     "\"}}\n");
    }
    server.in.close_writer();
  });
  BOOST_TEST(server.out.receive_line() == kInitialized);
  for (int i = 1; i <= 20; ++i) {
    const std::string line = server.out.receive_line();
    BOOST_TEST(line.size() > padding.size());
  }
  host.join();
  BOOST_TEST(server.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(stdout_is_taken_away) {
  Pipe real_out;
  Pipe real_err;
  std::fflush(nullptr);  // what is buffered must not be printed twice
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(real_out.writer(), STDOUT_FILENO);
    ::dup2(real_err.writer(), STDERR_FILENO);
    const auto taken = take_stdout();
    const bool ok = taken && *taken > STDERR_FILENO && ::write(*taken, "frame\n", 6) == 6 &&
                    ::write(STDOUT_FILENO, "stray\n", 6) == 6;
    ::_exit(ok ? 0 : 1);
  }
  real_out.close_writer();
  real_err.close_writer();
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  BOOST_TEST(real_out.receive_all() == "frame\n");
  BOOST_TEST(real_err.receive_all() == "stray\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
