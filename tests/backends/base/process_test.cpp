#include "backends/base/process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/support/process_group.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::ends;
using modlock::test::TemporaryDirectory;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

Command shell(const std::string& script) {
  return Command{.argv = {"sh", "-c", script}};
}

std::string output_of(const Command& command) {
  const auto finished = run_command(command, Context{});
  BOOST_REQUIRE_MESSAGE(finished.has_value(), (finished ? "" : finished.error().message));
  return finished->output;
}

Error error_of(const Command& command, const Context& context = {}) {
  auto finished = run_command(command, context);
  BOOST_REQUIRE(!finished.has_value());
  return finished.error();
}

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

// Waits until the script under test has written its file.
std::string wait_for_text(const fs::path& path) {
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < limit) {
    std::ifstream file(path);
    std::string line;
    if (std::getline(file, line) && !file.eof()) {
      return line;
    }
    std::this_thread::yield();
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(process)

BOOST_AUTO_TEST_CASE(what_a_child_prints_and_how_it_ends) {
  struct Row {
    const char* name;
    const char* script;
    int exit_code;
    const char* output;
    const char* error_output;
  };
  const Row rows[] = {
      {"nothing", ":", 0, "", ""},
      {"both streams", "echo out; echo err >&2", 0, "out\n", "err\n"},
      {"a failure is no error", "echo no >&2; exit 3", 3, "", "no\n"},
      {"a signal", "kill -9 $$", 137, "", ""},
      {"closed streams", "exec >&- 2>&-; exit 4", 4, "", ""},
      {"stdin is empty", "cat; echo end", 0, "end\n", ""},
      {"signals are as at the start of a session", "trap - PIPE; kill -PIPE $$; echo here", 141, "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto finished = run_command(shell(row.script), Context{});
      BOOST_REQUIRE(finished.has_value());
      BOOST_TEST(finished->exit_code == row.exit_code);
      BOOST_TEST(finished->output == row.output);
      BOOST_TEST(finished->error_output == row.error_output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lot_of_output_on_both_streams) {
  const auto finished = run_command(
      shell(
          "head -c 3000000 /dev/zero | tr '\\0' a & head -c 3000000 /dev/zero | tr '\\0' b >&2; wait; printf END >&2"),
      Context{});
  BOOST_REQUIRE(finished.has_value());
  BOOST_TEST(finished->output.size() == 3000000U);
  BOOST_TEST(finished->error_output.size() == 65536U);
  BOOST_TEST(finished->error_output.substr(65530) == "bbbEND");
}

BOOST_AUTO_TEST_CASE(input_is_written_and_may_be_refused) {
  const std::string input(1000000, 'i');
  BOOST_TEST(output_of(Command{.argv = {"cat"}, .input = input}) == input);
  const auto refused = run_command(Command{.argv = {"sh", "-c", "exec <&-; echo no"}, .input = input}, Context{});
  BOOST_REQUIRE(refused.has_value());
  BOOST_TEST(refused->output == "no\n");
}

BOOST_AUTO_TEST_CASE(too_much_output_is_refused) {
  Command command = shell("yes");
  command.output_limit = 1000;
  const Error error = error_of(command);
  BOOST_TEST(to_string(error.code) == "LIMIT_EXCEEDED");
  BOOST_TEST(error.message == "\"sh\" printed more than the 1000 bytes that are read of it");
  Command just_enough = shell("printf 12345");
  just_enough.output_limit = 5;
  BOOST_TEST(output_of(just_enough) == "12345");
}

BOOST_AUTO_TEST_CASE(environment_is_ours_less_and_more) {
  ::setenv("MODLOCK_TEST_A", "a", 1);
  ::setenv("MODLOCK_TEST_B1", "b1", 1);
  ::setenv("MODLOCK_TEST_B2", "b2", 1);
  Command command = shell("echo $MODLOCK_TEST_A,$MODLOCK_TEST_B1,$MODLOCK_TEST_B2,$MODLOCK_TEST_C");
  BOOST_TEST(output_of(command) == "a,b1,b2,\n");
  command.unset_environment = {"MODLOCK_TEST_A", "MODLOCK_TEST_B*"};
  command.set_environment = {{"MODLOCK_TEST_B2", "kept"}, {"MODLOCK_TEST_C", "with = sign"}};
  BOOST_TEST(output_of(command) == ",,kept,with = sign\n");
  for (const char* name : {"MODLOCK_TEST_A", "MODLOCK_TEST_B1", "MODLOCK_TEST_B2"}) {
    ::unsetenv(name);
  }
}

BOOST_AUTO_TEST_CASE(directory_of_the_child) {
  const TemporaryDirectory directory;
  Command command{.argv = {"pwd", "-P"}, .directory = directory.path()};
  BOOST_TEST(output_of(command) == fs::canonical(directory.path()).string() + "\n");
  command.directory = directory.path() / "none";
  const Error error = error_of(command);
  BOOST_TEST(to_string(error.code) == "IO_ERROR");
  BOOST_TEST(error.message ==
             "cannot run \"pwd\" in \"" + (directory.path() / "none").string() + "\": not a directory");
}

BOOST_AUTO_TEST_CASE(a_child_cannot_reach_a_terminal) {
  // Field 7 of stat is the controlling terminal, field 6 the session.
  const std::string stat = output_of(shell("echo $$; cut -d' ' -f5,6,7 /proc/$$/stat; : </dev/tty && echo reached"));
  const std::string pid = stat.substr(0, stat.find('\n'));
  BOOST_TEST(stat == pid + "\n" + pid + " " + pid + " 0\n");
}

BOOST_AUTO_TEST_CASE(programs_that_are_not_there_or_do_not_start) {
  const TemporaryDirectory directory;
  const Error missing = error_of(Command{.argv = {"modlock-no-such-program", "secret"}});
  BOOST_TEST(to_string(missing.code) == "TOOL_MISSING");
  BOOST_TEST(missing.message == "the program \"modlock-no-such-program\" is not on PATH");
  BOOST_TEST(missing.hint == "install modlock-no-such-program, or add its directory to PATH");

  const fs::path program = directory.path() / "program";
  std::ofstream(program) << "no program at all\n";
  BOOST_TEST(!find_program(program.string()).has_value());
  ::chmod(program.c_str(), 0755);
  BOOST_TEST(find_program(program.string()).value() == program);
  const Error broken = error_of(Command{.argv = {program.string(), "secret"}});
  BOOST_TEST(to_string(broken.code) == "IO_ERROR");
  BOOST_TEST(broken.message == "cannot run \"" + program.string() + "\": Exec format error");

  BOOST_TEST(find_program("sh").value().is_absolute());
  BOOST_TEST(!find_program("").has_value());
}

BOOST_AUTO_TEST_CASE(relative_entries_of_path_are_passed_over) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "modlock-tool") << "#!/bin/sh\n";
  ::chmod((directory.path() / "modlock-tool").c_str(), 0755);
  const std::string before = ::getenv("PATH");
  const fs::path here = fs::current_path();
  fs::current_path(directory.path());
  ::setenv("PATH", ".::relative", 1);
  BOOST_TEST(!find_program("modlock-tool").has_value());
  ::setenv("PATH", ("/nonexistent:" + directory.path().string()).c_str(), 1);
  BOOST_TEST(find_program("modlock-tool").value() == directory.path() / "modlock-tool");
  ::setenv("PATH", before.c_str(), 1);
  fs::current_path(here);
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_the_whole_group) {
  const TemporaryDirectory directory;
  const fs::path pid_file = directory.path() / "pid";
  Context context;
  context.deadline = std::chrono::steady_clock::now() + 3s;
  const Error error = error_of(shell("sleep 1000 & echo $! > " + pid_file.string() + "; wait"), context);
  BOOST_TEST(to_string(error.code) == "DEADLINE_EXCEEDED");
  BOOST_TEST(error.message == "the deadline of the request has passed");
  BOOST_TEST(error.notes == std::vector<std::string>{"while running sh"}, boost::test_tools::per_element());
  const std::string pid = wait_for_text(pid_file);
  BOOST_REQUIRE(!pid.empty());
  BOOST_TEST(ends(std::stoi(pid)));
}

BOOST_AUTO_TEST_CASE(cancellation_ends_the_whole_group) {
  const TemporaryDirectory directory;
  const fs::path pid_file = directory.path() / "pid";
  std::stop_source stop;
  Context context;
  context.stop = stop.get_token();
  std::string pid;
  std::jthread canceller([&] {
    pid = wait_for_text(pid_file);
    stop.request_stop();
  });
  // Nobody here heeds the polite signal.
  const Error error = error_of(
      shell("trap '' TERM; sleep 1000 & echo $! > " + pid_file.string() + "; while :; do wait; done"), context);
  canceller.join();
  BOOST_TEST(to_string(error.code) == "REQUEST_CANCELLED");
  BOOST_REQUIRE(!pid.empty());
  BOOST_TEST(ends(std::stoi(pid)));
}

BOOST_AUTO_TEST_CASE(a_child_may_clean_up_when_it_is_ended) {
  const TemporaryDirectory directory;
  const fs::path lock = directory.path() / "lock";
  std::stop_source stop;
  Context context;
  context.stop = stop.get_token();
  std::jthread canceller([&] {
    (void)wait_for_text(lock);
    stop.request_stop();
  });
  (void)error_of(
      shell("trap 'rm " + lock.string() + "; exit' TERM; echo x > " + lock.string() + "; while :; do sleep 0.01; done"),
      context);
  canceller.join();
  BOOST_TEST(!fs::exists(lock));
}

BOOST_AUTO_TEST_CASE(an_ended_context_starts_nothing) {
  std::stop_source stop;
  stop.request_stop();
  Context context;
  context.stop = stop.get_token();
  BOOST_TEST(to_string(error_of(Command{.argv = {"modlock-no-such-program"}}, context).code) == "REQUEST_CANCELLED");
}

BOOST_AUTO_TEST_CASE(a_grandchild_that_keeps_the_pipes_is_not_waited_for) {
  const auto finished = run_command(shell("sleep 1000 & echo $!"), Context{});
  BOOST_REQUIRE(finished.has_value());
  BOOST_TEST(finished->exit_code == 0);
  BOOST_TEST(ends(std::stoi(finished->output)));

  // One that left the group is not ours to end, and not to wait for either.
  const auto left = run_command(shell("setsid sleep 1000 & echo $!"), Context{});
  BOOST_REQUIRE(left.has_value());
  const pid_t pid = std::stoi(left->output);
  ::kill(pid, SIGKILL);
  BOOST_TEST(ends(pid));
}

BOOST_AUTO_TEST_CASE(an_endless_writer_is_ended_at_the_deadline) {
  Context context;
  context.deadline = std::chrono::steady_clock::now() + 200ms;
  BOOST_TEST(to_string(error_of(shell("yes >&2"), context).code) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(memory_of_a_child_and_of_what_it_started_is_limited) {
  const TemporaryDirectory directory;
  const fs::path pid_file = directory.path() / "pid";
  Context context;
  context.children.memory = 64U << 20U;
  // Neither heeds the polite signal, and 256 MiB is where it ends if nobody ends it.
  const std::string hungry =
      "trap '' TERM; (exec head -c 268435456 /dev/zero | tail -c 268435456 | sleep 1000) & echo $! > ";
  const Error error = error_of(shell(hungry + pid_file.string() + "; wait"), context);
  BOOST_TEST(to_string(error.code) == "LIMIT_EXCEEDED");
  BOOST_TEST(error.message == "\"sh\" used more than the 64 MiB of memory that a program may use here");
  BOOST_TEST(ends(std::stoi(wait_for_text(pid_file))));
}

BOOST_AUTO_TEST_CASE(time_of_a_child_is_limited) {
  struct Row {
    const char* name;
    const char* script;
    std::chrono::milliseconds total;
    std::chrono::milliseconds idle;
    const char* message;
  };
  for (const Row& row : {
           Row{"silent", "exec sleep 1000", 1h, 200ms, "\"sh\" did nothing for 1 s"},
           Row{"silent below", "sleep 1000; true", 1h, 200ms, "\"sh\" did nothing for 1 s"},
           Row{"output without end", "exec yes >&2", 300ms, 200ms, "\"sh\" was not done after 1 s"},
           Row{"work without end", "exec cat /dev/zero >/dev/null", 500ms, 300ms, "\"sh\" was not done after 1 s"},
           Row{"silent and in time", "exec sleep 1000", 100ms, 1h, "\"sh\" was not done after 1 s"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Context context;
      context.children.total = row.total;
      context.children.idle = row.idle;
      const Error error = error_of(shell(row.script), context);
      BOOST_TEST(to_string(error.code) == "TIMEOUT");
      BOOST_TEST(error.message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_child_writes_no_larger_file) {
  const TemporaryDirectory directory;
  Context context;
  context.children.file_size = 1U << 20U;
  const fs::path file = directory.path() / "large";
  // It waits until the limit is there.
  const auto finished = run_command(shell("sleep 0.1; exec cat /dev/zero > " + file.string()), context);
  BOOST_REQUIRE(finished.has_value());
  BOOST_TEST(finished->exit_code == 128 + SIGXFSZ);
  BOOST_TEST(fs::file_size(file) == 1U << 20U);
}

BOOST_AUTO_TEST_CASE(tokens_of_registries_reach_no_child) {
  ::setenv("TF_TOKEN_registry_example_com", "canary", 1);
  BOOST_TEST(output_of(shell("echo \"$TF_TOKEN_registry_example_com\"")) == "\n");
  Command own = shell("echo \"$TF_TOKEN_registry_example_com\"");
  own.keeps_tokens = true;
  BOOST_TEST(output_of(own) == "canary\n");
  ::unsetenv("TF_TOKEN_registry_example_com");
}

BOOST_AUTO_TEST_CASE(many_threads_leak_no_descriptors_into_children) {
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&wrong] {
        for (int run = 0; run < 15; ++run) {
          const auto finished = run_command(Command{.argv = {"ls", "-l", "/proc/self/fd"}, .input = "in"}, Context{});
          // stdin, stdout, stderr, and nothing of the children that other threads start meanwhile.
          if (!finished || count(finished->output, "pipe:") != 3) {
            ++wrong;
          }
        }
      });
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(no_descriptor_stays_open) {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = open_files();
  (void)output_of(Command{.argv = {"cat"}, .input = "x"});
  (void)error_of(Command{.argv = {"modlock-no-such-program"}});
  Command limited = shell("yes");
  limited.output_limit = 1;
  (void)error_of(limited);
  BOOST_TEST(open_files() == before);
}

BOOST_AUTO_TEST_SUITE_END()
