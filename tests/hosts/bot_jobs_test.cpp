// scripts/gitlab: its own steps, taken from the file, in a checkout of a repository that a real git server serves.

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// The lines from `at` on that are indented by `indent`, without that.
std::string read_block(const std::vector<std::string>& lines, std::size_t at, std::size_t indent) {
  std::string text;
  for (; at < lines.size() && (lines[at].empty() || lines[at].starts_with(std::string(indent, ' '))); ++at) {
    text += lines[at].empty() ? "\n" : lines[at].substr(indent) + "\n";
  }
  return text;
}

std::vector<std::string> read_lines(const char* name) {
  std::istringstream text(read_text(fs::path(MODLOCK_SCRIPTS) / name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

// The script of a job in scripts/gitlab/tofu-modlock.yml.
std::string gitlab_script(const std::string& job) {
  const std::vector<std::string> lines = read_lines("gitlab/tofu-modlock.yml");
  std::size_t at = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), job + ":") - lines.begin());
  at = static_cast<std::size_t>(std::find(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), "  script:") -
                                lines.begin());
  std::string script;
  while (++at < lines.size() && lines[at].starts_with("    ")) {
    if (lines[at] == "    - |") {
      script += read_block(lines, at + 1, 6);
    } else if (lines[at].starts_with("    - ")) {
      script += lines[at].substr(6) + "\n";
    }
  }
  return script;
}

// The root directory is a checkout of the branch "bot", on which something has changed a source of the root module
// "live [1]" without its lock file. The root module "other" is unchanged.
struct Jobs : Scene {
  Jobs() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    fs::create_directories(path("bin"));
    fs::create_symlink(binary, path("bin/tofu-modlock"));
    environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
    write_text(path("home/.gitconfig"),
               fmt::format("[url \"{}\"]\n\tinsteadOf = https://github.com/acme/vpc.git\n", vpc.url()));
    const std::string served = (server.repositories() / "infra.git").string();
    git({"init", "-q", "--bare", "-b", "main", served});
    git({"-C", served, "config", "http.receivepack", "true"});
    git({"clone", "-q", url, "."});
    git({"checkout", "-q", "-b", "main"});
    write(".gitignore", ".terraform\n");
    for (const char* directory : {"live [1]", "other"}) {
      write(std::string(directory) + "/main.tf", call("v1.0.0"));
      BOOST_TEST(modlock({"lock", "--chdir", directory}).exit_code == 0);
    }
    commit("first");
    git({"push", "-q", "origin", "main"});
    git({"checkout", "-q", "-b", "bot"});
    write("live [1]/main.tf", call("v1.1.0"));
    commit("Bump vpc");
    git({"push", "-q", "origin", "bot"});
  }

  static std::string call(const std::string& tag) {
    return module_call("vpc", "git::https://github.com/acme/vpc.git?ref=" + tag);
  }

  std::string git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=user", "-c", "user.email=user@example.test"});
    const Ran ran = program(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
    return ran.out;
  }

  void commit(const char* message) const {
    git({"add", "-A"});
    git({"commit", "-q", "-m", message});
  }

  // What the branch has on the server: "<subject>: <changed files>" for each commit since main.
  std::string on_server() const {
    return git(
        {"-C", (server.repositories() / "infra.git").string(), "log", "--name-only", "--format=%s", "main..bot"});
  }

  Ran run_script(const char* shell, const std::string& script) {
    write_text(path("step"), script);
    return program({shell, "-e", "../step"});
  }

  Ran gitlab(const std::string& mode, const char* shell = "bash") {
    std::string start = git({"merge-base", "origin/main", "HEAD"});
    environment["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = start.substr(0, start.find('\n'));
    environment["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"] = "bot";
    const std::string address = server.plain_url("private", "infra.git");
    environment["CI_PROJECT_URL"] = address.substr(0, address.rfind(".git"));
    environment["TOFU_MODLOCK_PUSH_USER"] = HttpsGitServer::user();
    environment["TOFU_MODLOCK_PUSH_TOKEN"] = HttpsGitServer::password();
    return run_script(shell, gitlab_script(".tofu-modlock-" + mode));
  }

  HttpsGitServer server;
  std::string url = server.plain_url("open", "infra.git");
  GitRepository& vpc;
};

constexpr const char* kUpdated =
    "Update the lock files\n\nlive [1]/.terraform.lock.hcl\nBump vpc\n\nlive [1]/main.tf\n";

constexpr const char* kSummary =
    "## Lock files\n\n| Subject | Change | From | To | Constraint |\n|---|---|---|---|---|\n"
    "| `module.vpc` | source-changed | `v1.0.0 (<1.0.0...>)` | `v1.1.0 (<1.1.0...>)` |  |\n\n"
    "Files: `.terraform.lock.hcl`\n\n### `module.vpc`: `v1.0.0 ";

constexpr const char* kComparison = "[Compare](https://github.com/acme/vpc/compare/<1.0.0>...<1.1.0>)\n";

// Returns the start of a summary, which has the length of `start`.
std::string beginning(const std::string& summary, std::string_view start) {
  return summary.substr(0, start.size());
}

BOOST_FIXTURE_TEST_SUITE(bot_jobs, Jobs, *needs(HttpsGitServer::kPrograms))

BOOST_AUTO_TEST_CASE(gitlab_pushes_the_lock_files_only) {
  for (const char* shell : {"bash", "sh"}) {
    BOOST_TEST_CONTEXT(shell) {
      git({"checkout", "-q", "--detach", "origin/bot"});
      git({"push", "-q", "-f", "origin", "HEAD:bot"});
      write("new.txt", "");
      write("staged.txt", "");
      git({"add", "staged.txt"});
      const Ran ran = gitlab("update", shell);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(on_server() == kUpdated);
      BOOST_TEST(beginning(ran.out, kSummary) == kSummary);
      BOOST_TEST(beginning(shown(read("tofu-modlock.md")), kSummary) == kSummary);
      BOOST_TEST(shown(read("tofu-modlock.md")).ends_with(kComparison), read("tofu-modlock.md"));
      BOOST_TEST((ran.out + ran.err).find(HttpsGitServer::password()) == std::string::npos);
      BOOST_TEST(gitlab("check", shell).exit_code == 0);
      BOOST_TEST(gitlab("update", shell).exit_code == 0);
      BOOST_TEST(read("tofu-modlock.md") == "## Lock files\n\nNo lock file was changed.\n");
      BOOST_TEST(on_server() == kUpdated);
      git({"reset", "-q", "--hard", "HEAD~1"});
      git({"push", "-q", "-f", "origin", "HEAD:bot"});
    }
  }
}

BOOST_AUTO_TEST_CASE(check_fails_until_the_lock_files_are_up_to_date) {
  BOOST_TEST(gitlab("check").exit_code == 3);
}

BOOST_AUTO_TEST_CASE(a_failed_update_pushes_nothing) {
  write("other/main.tf", "module {");
  const std::string before = on_server();
  const Ran on_gitlab = gitlab("update");
  BOOST_TEST(on_gitlab.exit_code == 8, on_gitlab.err);
  BOOST_TEST(on_server() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
