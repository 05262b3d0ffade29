// What becomes of a session whose host is gone, and of what it started.
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "backends/base/descriptor.h"
#include "backends/base/process.h"
#include "tests/e2e/scene.h"
#include "tests/transcripts/live_session.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A root whose one source is asked for through a git that neither answers nor ends when it is asked to.
struct Hanging : Scene {
  Hanging() {
    write("main.tf", module_call("vpc", "git::ssh://git@127.0.0.1/vpc.git"));
    ::mkfifo(path("started").c_str(), 0600);
    ::mkfifo(path("never").c_str(), 0600);
    write_text(path("bin/git"), "#!/bin/sh\ntrap '' TERM\necho $$ > '" + path("started").string() + "'\nread x < '" +
                                    path("never").string() + "'\n");
    fs::permissions(path("bin/git"), fs::perms::owner_all);
    environment["PATH"] = path("bin").string() + ":/usr/bin:/bin";
  }

  // Waits until that runs; its process.
  Descriptor wait_for_git() const {
    std::ifstream in(path("started"));
    int process = 0;
    in >> process;
    return opened(process);
  }
  static Descriptor opened(int process) { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))); }
  void start_plan(const LiveSession& session) const {
    session.send(R"({"jsonrpc":"2.0","id":1,"method":"lock/plan","params":{"root":")" + root().string() + "\"}}");
  }
};

// Whether a process ends before `limit`, which is there for a failure only.
bool has_ended(const Descriptor& process) {
  constexpr int kLimit = 20'000;
  pollfd waiting{process.get(), POLLIN, 0};
  return ::poll(&waiting, 1, kLimit) == 1;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(serve_ends, Hanging)

BOOST_AUTO_TEST_CASE(where_nobody_reads_the_answers_the_session_ends_and_its_children_too) {
  LiveSession session(binary, environment);
  session.initialize();
  start_plan(session);
  const Descriptor git = wait_for_git();
  BOOST_REQUIRE(git.valid());
  const auto before = Clock::now();
  session.out.close_reader();
  const Descriptor process = session.process();
  BOOST_REQUIRE(has_ended(process));
  const auto took = Clock::now() - before;
  BOOST_TEST(session.exit_code() == 1);
  // Half a second, plus the delay of a busy machine. With a reader, child processes get two seconds.
  BOOST_TEST((took < std::chrono::milliseconds(1900)));
  BOOST_TEST(has_ended(git));
}

BOOST_AUTO_TEST_CASE(the_children_of_a_killed_session_end_with_it) {
  // The same program, which reads no request and does not see the end of its input.
  write_text(path("home/.config/tofu-modlock/config.hcl"), "backend \"hg\" {\n  command = [\"git\"]\n}\n");
  for (const char* source : {"git::ssh://git@127.0.0.1/vpc.git", "hg::https://127.0.0.1/vpc"}) {
    BOOST_TEST_CONTEXT(source) {
      write("main.tf", module_call("vpc", source));
      LiveSession session(binary, environment);
      session.initialize();
      start_plan(session);
      const Descriptor child = wait_for_git();
      BOOST_REQUIRE(child.valid());
      session.signal(SIGKILL);
      BOOST_TEST(session.exit_code() == 128 + SIGKILL);
      BOOST_TEST(session.out.receive_all() == "");  // no process holds the stream
      BOOST_TEST(has_ended(child));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_guards_the_children_of_a_session) {
  for (const bool is_killed : {false, true}) {
    LiveSession session(binary, environment);
    session.initialize();
    const std::vector<int> processes = process_tree(session.pid());
    BOOST_REQUIRE(processes.size() == 2U);
    const Descriptor guardian = opened(processes[1]);
    if (is_killed) {
      ::kill(processes[1], SIGKILL);
      BOOST_REQUIRE(has_ended(guardian));
      start_plan(session);
      const Descriptor git = wait_for_git();
      session.signal(SIGTERM);
      BOOST_TEST(session.exit_code() == 128 + SIGTERM);
      BOOST_TEST(has_ended(git));
    } else {
      session.in.close_writer();
      BOOST_TEST(session.exit_code() == 0);
      BOOST_TEST(::kill(processes[1], 0) == -1);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_coding_agent_reads_the_locked_version, Scene) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  write_text(path("requests"),
             R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"
             "\n"
             R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inspect","arguments":{}}})"
             "\n"
             R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"verify","arguments":{"root":")" +
                 path("root/empty").string() + "\"}}}\n");
  std::filesystem::create_directories(path("root/empty"));
  const Ran ran = program({"sh", "-c", "exec \"$0\" mcp <\"$1\"", binary, path("requests").string()});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find(R"("protocolVersion":"2025-06-18")") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find(R"(\"commit\":\"<1.0.0>\")") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find(R"("message":"<dir>/root/empty has no configuration files")") != std::string::npos, ran.out);
  for (const char* root : {"missing", "../requests"}) {
    const Ran refused = modlock({"mcp", "--root", root});
    BOOST_TEST(refused.exit_code == 2);
    BOOST_TEST(refused.err == std::string("Error: --root ") + root +
                                  " is not a directory [INVALID_PARAMS]\n  hint: name an existing directory\n");
  }
}

// A local source of a root module that is in no repository of git is followed only within --root.
BOOST_FIXTURE_TEST_CASE(a_coding_agent_stays_below_its_root, Scene) {
  write_text(path("secret/main.tf"), "module \"canary\" {\n  source = \"./canary\"\n}\n");
  write_text(path("secret/bad/main.tf"), "canary = = 1\n");
  struct Row {
    const char* name;
    std::string source;
    std::vector<std::string> roots;
    bool is_read;
  };
  const std::string live = path("root/live").string();
  for (const Row& row : {
           Row{"within --root", "../modules/app", {root().string()}, true},
           Row{"in another --root", "../../secret", {live, path("secret").string()}, true},
           Row{"above", "../../secret", {root().string()}, false},
           Row{"above, unreadable", "../../secret/bad", {root().string()}, false},
           Row{"beside", "../modules/app", {live}, false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write("live/main.tf", module_call("app", row.source));
      write("modules/app/main.tf", "module \"canary\" {\n  source = \"./canary\"\n}\n");
      std::string command = "exec \"$0\" mcp";
      for (const std::string& directory : row.roots) {
        command += " --root '" + directory + "'";
      }
      write_text(path("requests"), R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":)"
                                   R"("2025-06-18"}})"
                                   "\n"
                                   R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inspect",)"
                                   R"("arguments":{"root":")" +
                                       live + "\"}}}\n");
      const Ran ran = program({"sh", "-c", command + " <\"$1\"", binary, path("requests").string()});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST((ran.out.find("canary") != std::string::npos) == row.is_read, ran.out);
      BOOST_TEST((ran.out.find("PATH_OUTSIDE_ROOT") == std::string::npos) == row.is_read, ran.out);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
