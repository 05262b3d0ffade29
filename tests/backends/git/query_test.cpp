// Addresses with a query, which may hold a secret.
#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/base/process.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/fault_server.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQuery = "?token=T0KEN";

// A server of git's protocol that gives nothing to those who have not the token. Every program that git starts keeps a
// record of its arguments.
struct Queried : GitFixture {
  explicit Queried(bool speaks_version_2) {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    second = repository.commit({{"main.tf", "# 2\n"}});
    repository.configure("uploadpack.allowAnySHA1InWant", "true");
    repository.configure("uploadpack.allowFilter", "true");
    std::string programs = run({"git", "--exec-path"});
    programs.erase(programs.find_last_not_of('\n') + 1);
    for (const char* name : {"git", "git-remote-http"}) {
      const fs::path program = directory / "programs" / name;
      write_text(program, fmt::format("#!/bin/sh\necho \"$0 $*\" >> {}\nexec {}/{} \"$@\"\n", record().string(),
                                      programs, name));
      fs::permissions(program, fs::perms::owner_all);
    }
    write_text(record(), "");
    programs_in_use.emplace("GIT_EXEC_PATH", (directory / "programs").string());
    path_in_use.emplace("PATH", (directory / "programs").string() + ":" + std::string(std::getenv("PATH")));
    server.emplace([=, this](const ReceivedRequest& request) { return answer(request, speaks_version_2); });
  }

  fs::path record() const { return directory / "record"; }
  std::string url() const { return "http://" + server->host() + "/m.git" + kQuery; }
  ServerAnswer answer(const ReceivedRequest& request, bool speaks_version_2) const {
    if (!request.target.starts_with(fmt::format("/m.git{}/", kQuery))) {
      return {.status = 404};
    }
    std::map<std::string, std::string> variables = {{"GIT_EXEC_PATH", ""}};
    const std::string version = speaks_version_2 ? request.header("Git-Protocol") : "";
    if (!version.empty()) {
      variables["GIT_PROTOCOL"] = version;
    }
    const bool is_result = request.method == "POST";
    std::vector<std::string> argv = {"/usr/bin/git", "upload-pack", "--stateless-rpc"};
    if (!is_result) {
      argv.emplace_back("--advertise-refs");
    }
    argv.push_back(repository.path().string());
    std::string body = run(argv, {}, variables, request.body);
    if (!is_result && version.empty()) {
      body = "001e# service=git-upload-pack\n0000" + body;
    }
    return {.headers = {{"Content-Type",
                         fmt::format("application/x-git-upload-pack-{}", is_result ? "result" : "advertisement")}},
            .body = body};
  }

  GitRepository repository{directory / "remote.git"};
  std::string first;
  std::string second;
  std::optional<ScopedEnvironment> programs_in_use;
  std::optional<ScopedEnvironment> path_in_use;
  std::optional<FaultServer> server;  // reads the environment, which is set before it starts
};

}  // namespace

BOOST_AUTO_TEST_SUITE(git_query)

BOOST_AUTO_TEST_CASE(a_query_is_in_the_arguments_of_no_program) {
  struct Row {
    const char* name;
    GitEngine engine;
    bool speaks_version_2;
    const char* fetched;  // by git
  };
  const char* const refused = "SOURCE_UNSUPPORTED";
  for (const Row& row : {
           Row{"our HTTP", GitEngine::automatic, true, "ok"},
           Row{"our HTTP, an old server", GitEngine::automatic, false, "ok"},
           Row{"git", GitEngine::git, true, "ok"},
           Row{"git, an old server", GitEngine::git, false, refused},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Queried queried(row.speaks_version_2);
      queried.renew_backend(row.engine);
      const auto code_of = [](const std::string& found) { return found.substr(0, found.find(':')); };
      BOOST_TEST(outcome(queried.backend->list_versions(queried.source(queried.url()), "", queried.context)) == "ok");
      BOOST_TEST(code_of(outcome(queried.fetch_one(queried.url(), {queried.first, "refs/tags/v1.0.0", false}))) ==
                 row.fetched);
      // Its history takes git.
      const auto pinned =
          queried.backend->pin(queried.source(queried.url() + "&ref=" + queried.first.substr(0, 10)), queried.context);
      BOOST_TEST(code_of(outcome(pinned)) == (row.speaks_version_2 ? "ok" : refused));
      const std::string arguments = read_text(queried.record());
      BOOST_TEST(arguments.find("remote-http") != std::string::npos, arguments);
      BOOST_TEST(arguments.find("T0KEN") == std::string::npos, arguments);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
