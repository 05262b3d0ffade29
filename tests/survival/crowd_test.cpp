// Many processes on one store: what several of them want is fetched once.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "backends/store/store.h"
#include "tests/support/archive_writer.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"
#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr int kProcesses = 32;
constexpr int kRoots = 50;
constexpr int kSources = 8;
constexpr std::chrono::seconds kPatience{120};  // for what happens soon unless it never does

struct Crowd : SurvivalScene {
  // Runs a command line of the shell for each of the processes at once; $1 is the binary, $process its number.
  Ran at_once(const std::string& command) const {
    return program({"sh", "-c",
                    "for process in $(seq " + std::to_string(kProcesses) + "); do { " + command +
                        "; } >/dev/null & pids=\"$pids $!\"; done\n"
                        "for pid in $pids; do wait $pid || failures=$((failures + 1)); done\n"
                        "exit ${failures:-0}",
                    "sh", binary});
  }

  void serve_archives() {
    for (int source = 0; source < kSources; ++source) {
      const std::string name = "m" + std::to_string(source);
      registry.serve("/" + name + ".zip", {.status = 200,
                                           .body = make_zip({{.name = "main.tf", .content = "# " + name + "\n"}}),
                                           .type = "application/zip"});
      registry.add_version("acme/" + name + "/aws", "1.0.0",
                           ModuleRegistry::by_header(registry.url() + "/" + name + ".zip"));
    }
  }

  // The roots of one process, locked, and the packages in nobody's store.
  void lock_roots() {
    for (int number = 0; number < kRoots; ++number) {
      write_text(
          path("roots/1") / ("r" + std::to_string(number)) / "main.tf",
          module_call("m", "registry.example.test/acme/m" + std::to_string(number % kSources) + "/aws", "1.0.0"));
    }
    const Ran ran = program({"sh", "-c", "\"$1\" lock ../roots/1/*", "sh", binary});
    BOOST_TEST_REQUIRE(ran.exit_code == 0, ran.err);
    fs::remove_all(cache());
    for (int process = 2; process <= kProcesses; ++process) {
      fs::copy(path("roots/1"), path("roots/" + std::to_string(process)), fs::copy_options::recursive);
    }
  }

  std::ptrdiff_t downloads() const {
    const auto lines = registry.lines();
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.ends_with(".zip"); });
  }
};

BOOST_FIXTURE_TEST_SUITE(crowd, Crowd)

BOOST_AUTO_TEST_CASE(thirty_two_processes_install_fifty_roots_each) {
  serve_archives();
  lock_roots();
  registry.forget_requests();
  const Ran ran = at_once("\"$1\" install ../roots/$process/*");
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(downloads() == kSources);
  files_of_store();
  const Ran verified = program({"sh", "-c", "\"$1\" verify ../roots/*/*", "sh", binary});
  BOOST_TEST(verified.exit_code == 0, verified.out << verified.err);
}

// Each of them has asked for the versions, and so has begun, before the first may fetch.
BOOST_AUTO_TEST_CASE(thirty_two_processes_lock_one_archive_for_the_first_time) {
  serve_archives();
  for (int process = 1; process <= kProcesses; ++process) {
    write_text(path("root" + std::to_string(process)) / "main.tf",
               module_call("m", "registry.example.test/acme/m0/aws", "~> 1.0"));
  }
  const Store store = Store::open(cache()).value();
  auto held = store.hold(parse_source("registry.example.test/acme/m0/aws").value().source, Context{});
  BOOST_TEST_REQUIRE(held.has_value());
  Ran ran;
  std::jthread crowd([&] { ran = at_once("\"$1\" lock ../root$process"); });
  for (const auto late = std::chrono::steady_clock::now() + kPatience;
       registry.lines().size() < kProcesses && std::chrono::steady_clock::now() < late;) {
    std::this_thread::yield();
  }
  BOOST_TEST(downloads() == 0);
  held = fail(Code::internal, "let go");
  crowd.join();
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(downloads() == 1);
}

BOOST_AUTO_TEST_CASE(thirty_two_processes_lock_one_git_source, *needs(HttpsGitServer::kPrograms)) {
  const HttpsGitServer server;
  GitRepository network(server.repositories() / "network.git");
  release(network, "1.0.0");
  environment["SSL_CERT_FILE"] = server.authority().string();
  environment["GIT_SSL_CAINFO"] = server.authority().string();
  write("main.tf", module_call("network", "git::" + server.url("old", "network.git") + "?ref=v1.0.0"));
  for (int process = 1; process <= kProcesses; ++process) {
    write_text(path("root" + std::to_string(process)) / "main.tf", read("main.tf"));
  }
  const Ran ran = at_once("\"$1\" lock --install ../root$process");
  BOOST_TEST(ran.exit_code == 0, ran.err);
  // Protocol v0 lists by GET and fetches by POST.
  const auto lines = server.log();
  BOOST_TEST(std::count_if(lines.begin(), lines.end(),
                           [](const std::string& line) { return line.find(" POST ") != std::string::npos; }) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
