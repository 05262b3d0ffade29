// Hosts that behave badly, and bytes that no host should send, against the real program.
#include <poll.h>
#include <pty.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"
#include "tests/transcripts/live_session.h"

namespace modlock::test {
namespace {

// AddressSanitizer keeps what is freed for a while, and more around what is small than it holds; ThreadSanitizer notes
// four times of all that was ever touched.
#if defined(MODLOCK_ADDRESS_SANITIZER)
constexpr long kFactorOfAll = 10;
constexpr long kFactorOfLarge = 1;
#elif defined(MODLOCK_THREAD_SANITIZER)
constexpr long kFactorOfAll = 5;
constexpr long kFactorOfLarge = 5;
#else
constexpr long kFactorOfAll = 1;
constexpr long kFactorOfLarge = 1;
#endif

constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
constexpr std::string_view kPong = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

std::string code_of(const std::string& line) {
  const auto message = parse_json(line);
  return message ? (*message)["error"]["data"]["code"].asString() : "no JSON: " + line;
}

// As a program that was told to serve sees a terminal: what it says, and its exit code.
std::pair<std::string, int> serve_on_a_terminal(const std::string& binary) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::execl(binary.c_str(), binary.c_str(), "serve", nullptr);
    ::_exit(127);
  }
  std::string said;
  std::array<char, 4096> bytes{};
  for (ssize_t got = 0; (got = ::read(terminal, bytes.data(), bytes.size())) > 0;) {
    said.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {said, WEXITSTATUS(status)};
}

BOOST_FIXTURE_TEST_SUITE(vectors, Scene)

BOOST_AUTO_TEST_CASE(one_byte_at_a_time) {
  LiveSession session(binary, environment);
  const std::string line = "{\"jsonrpc\":\"2.0\",\"id\":\"\xC3\xA9\xF0\x9F\x94\x92\",\"method\":\"ping\"}\r\n";
  for (const char byte : line) {
    session.in.send({&byte, 1});
  }
  BOOST_TEST(session.out.receive_line() == "{\"jsonrpc\":\"2.0\",\"id\":\"\xC3\xA9\xF0\x9F\x94\x92\",\"result\":{}}\n");
}

BOOST_AUTO_TEST_CASE(lines_at_the_limit) {
  LiveSession session(binary, environment);
  const std::string head = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")";
  for (const int more : {-1, 0, 1}) {
    BOOST_TEST_CONTEXT(more) {
      const std::size_t length = 8 * kMebibyte + static_cast<std::size_t>(more + 1) - 1;
      std::string line = head;
      line.append(length - head.size() - 3, 'x').append("\"}}");
      BOOST_REQUIRE(line.size() == length);
      session.send(line);
      const std::string answer = session.out.receive_line();
      BOOST_TEST((more > 0 ? code_of(answer) : answer) == (more > 0 ? "MESSAGE_TOO_LARGE" : kPong));
    }
  }
}

BOOST_AUTO_TEST_CASE(two_hundred_mebibytes_without_a_line_end) {
  LiveSession session(binary, environment);
  session.send(std::string(kPing));
  BOOST_TEST(session.out.receive_line() == kPong);
  const long before = session.peak_memory();
  const std::string piece(kMebibyte, '[');
  for (int i = 0; i < 200; ++i) {
    session.in.send(piece);
  }
  session.in.send("\n");
  BOOST_TEST(code_of(session.out.receive_line()) == "MESSAGE_TOO_LARGE");
  session.send(std::string(kPing));
  BOOST_TEST(session.out.receive_line() == kPong);
  BOOST_TEST(session.peak_memory() - before < 32 * kFactorOfLarge);
  session.in.close_writer();
  BOOST_TEST(session.exit_code() == 0);
}

// Reading stops, memory stays, and what closes the pipe ends the session.
BOOST_AUTO_TEST_CASE(a_host_that_never_reads) {
  LiveSession session(binary, environment);
  session.initialize();
  const std::string line =
      R"({"jsonrpc":"2.0","id":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","method":"ping"})"
      "\n";
  ::fcntl(session.in.writer(), F_SETFL, O_NONBLOCK);
  std::size_t sent = 0;
  pollfd writable{session.in.writer(), POLLOUT, 0};
  while (sent < 256 * kMebibyte && ::poll(&writable, 1, 2000) == 1) {
    const ssize_t written =
        ::write(session.in.writer(), line.data() + sent % line.size(), line.size() - sent % line.size());
    BOOST_REQUIRE(written > 0);
    sent += static_cast<std::size_t>(written);
  }
  BOOST_TEST(sent < 256 * kMebibyte);  // it stopped reading
  BOOST_TEST(session.peak_memory() < 100 * kFactorOfAll);
  session.out.close_reader();
  BOOST_TEST(session.exit_code() == 1);
}

BOOST_AUTO_TEST_CASE(a_signal_while_a_source_is_silent) {
  const SilentServer silent;
  write("main.tf", module_call("vpc", "git::https://127.0.0.1:" + std::to_string(silent.port()) + "/vpc.git"));
  LiveSession session(binary, environment);
  session.initialize(R"(,"options":{"implementation":"opentofu"})");
  session.send(R"({"jsonrpc":"2.0","id":1,"method":"lock/plan","params":{"root":")" + root().string() +
               R"(","_meta":{"progressToken":7}}})");
  BOOST_TEST(
      session.out.receive_line() ==
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":7,"value":{"kind":"begin","title":"lock/plan"}}})"
      "\n");
  session.signal(SIGTERM);
  const std::string rest = session.out.receive_all();
  BOOST_TEST(rest.find(R"({"token":7,"value":{"kind":"end"}})") < rest.find(R"("id":1,"error":{"code":-32800)"));
  BOOST_TEST(session.exit_code() == 128 + SIGTERM);
}

// Somebody else still holds the pipe open.
BOOST_AUTO_TEST_CASE(a_host_that_was_killed) {
  const pid_t host = ::fork();
  if (host == 0) {
    ::pause();
    ::_exit(0);
  }
  LiveSession session(binary, environment);
  session.initialize(",\"processId\":" + std::to_string(host));
  ::kill(host, SIGKILL);
  BOOST_TEST(session.exit_code() == 1);
  ::waitpid(host, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(a_host_without_stderr) {
  LiveSession session(binary, environment, true);
  session.send(R"({"jsonrpc":"2.0","method":"nobody/listens"})");  // would be logged
  session.send(std::string(kPing));
  BOOST_TEST(session.out.receive_line() == kPong);
  session.in.close_writer();
  BOOST_TEST(session.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(a_terminal_is_told_what_this_is) {
  const auto [said, code] = serve_on_a_terminal(binary);
  BOOST_TEST(said ==
             "tofu-modlock serve reads and writes JSON-RPC 2.0 messages on stdin and stdout, one per line.\r\n"
             "It is not interactive. Try `tofu-modlock lock`, or `tofu-modlock call METHOD`.\r\n");
  BOOST_TEST(code == 2);
}

BOOST_AUTO_TEST_CASE(two_runs_say_the_same) {
  write("main.tf", module_call("b", "./b") + module_call("a", "example/a/null", "~> 1.0"));
  const std::string sent = R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersions":["1.0"],)"
                           R"("options":{"implementation":"opentofu"}}})"
                           "\n"
                           R"({"jsonrpc":"2.0","id":1,"method":"config/inspect","params":{"root":")" +
                           root().string() + "\"}}\n";
  const Ran first = modlock({"serve"}, sent);
  BOOST_TEST(first.out.find("\"id\":1,\"result\"") != std::string::npos);
  BOOST_TEST(modlock({"serve"}, sent).out == first.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
