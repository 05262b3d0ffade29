// docs/ci.md: its own blocks, run in a repository of ten root modules with providers.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <regex>
#include <sstream>
#include <tuple>

#include "backends/base/process.h"
#include "tests/e2e/scene.h"
#include "tests/support/needs.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr int kRoots = 10;

// The first block of that language below the heading.
std::vector<std::string> read_page_block(const std::string& heading, const std::string& language) {
  std::istringstream page(read_text(fs::path(MODLOCK_DOCS) / "ci.md"));
  std::vector<std::string> block;
  bool is_below = false;
  bool is_inside = false;
  for (std::string line; std::getline(page, line);) {
    if (is_inside && line == "```") {
      break;
    }
    if (is_inside) {
      block.push_back(line);
    }
    is_below = is_below || line == heading;
    is_inside = is_inside || (is_below && line == "```" + language);
  }
  BOOST_REQUIRE_MESSAGE(!block.empty(), heading);
  return block;
}

// The commands of a YAML list; `|` begins a text of several lines.
std::vector<std::string> read_commands(const std::vector<std::string>& lines) {
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t indent = lines[i].find_first_not_of(' ');
    const std::string item = "- ";
    if (indent == std::string::npos || !lines[i].substr(indent).starts_with(item)) {
      continue;
    }
    std::string command = lines[i].substr(indent + item.size());
    if (command == "|") {
      command.clear();
      for (; i + 1 < lines.size() && lines[i + 1].starts_with(std::string(indent + 2, ' ')); ++i) {
        command += lines[i + 1].substr(indent + 2) + "\n";
      }
    }
    commands.push_back(command);
  }
  BOOST_REQUIRE(!commands.empty());
  return commands;
}

struct CiPage : Scene {
  CiPage() : vpc(repository("vpc.git")) {
    registry.publish({.name = "acme/cloud", .version = "1.0.0"});
    release(vpc, "1.0.0");
    write_text(path("home/.gitconfig"), "[user]\n\tname = user\n\temail = user@example.test\n");
    fs::create_directories(path("bin"));
    fs::create_symlink(binary, path("bin/tofu-modlock"));
    environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["GITHUB_WORKSPACE"] = root().string();
    write(".gitignore", ".terraform\n");
    for (int i = 1; i <= kRoots; ++i) {
      write_root(fmt::format("live/{}", i));
    }
    // A called module and an example are no root modules.
    write("modules/net/main.tf", required_cloud("~> 1.0"));
    write("modules/net/examples/basic/main.tf",
          required_cloud("~> 1.0") + "module \"net\" {\n  source = \"../..\"\n}\n");
    git({"init", "-q", "-b", "main"});
  }

  void write_root(const std::string& name) const {
    write(name + "/main.tf", required_cloud("~> 1.0") + module_call("net", "../../modules/net") +
                                 module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  }

  // Locks with the setting that the page recommends, or without it.
  void use(const std::string& client, bool in_sidecar = true) {
    for (const char* name : {".terraform.lock.hcl", ".terraform.modules.lock.hcl"}) {
      for (int i = 1; i <= kRoots; ++i) {
        fs::remove(root() / fmt::format("live/{}/{}", i, name));
      }
    }
    write(".tofu-modlock.hcl", in_sidecar ? "module_lock_file = \"sidecar\"\n" : "");
    fs::remove(path("bin/tofu"));
    fs::create_symlink(*find_program(client), path("bin/tofu"));
    write_text(path("tofurc"),
               registry.host_block(client == "terraform" ? "registry.terraform.io" : "registry.opentofu.org"));
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = client == "terraform" ? "terraform" : "opentofu";
    environment["CI"] = "";
    BOOST_TEST(modlock({"lock", "--recursive"}).exit_code == 0);
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "Lock"});
    environment["CI"] = "true";
  }

  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    const Ran ran = program(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
  }

  // Each in a shell of its own, as runners do it, up to the first that fails.
  Ran run(const std::vector<std::string>& commands) const {
    Ran all;
    for (std::string command : commands) {
      const std::size_t named = command.find("-- tofu ");
      if (named != std::string::npos && environment.at("TOFU_MODLOCK_IMPLEMENTATION") == "terraform") {
        command.replace(named, 8, "-- terraform ");  // the name of the command says which client it is
      }
      const Ran ran = program({"sh", "-e", "-c", command});
      all = {ran.exit_code, all.out + ran.out, all.err + ran.err};
      if (ran.exit_code != 0) {
        break;
      }
    }
    return all;
  }

  void forget_installed() const {
    for (const auto& entry : fs::directory_iterator(root() / "live")) {
      fs::remove_all(entry.path() / ".terraform");
    }
  }

  // Passes as it is; a new root module that is not locked fails, and so does a lock file that no longer fits.
  void check(const std::vector<std::string>& commands) const {
    forget_installed();
    const Ran fine = run(commands);
    BOOST_TEST(fine.exit_code == 0, fine.out << fine.err);
    for (int i = 1; i <= kRoots; ++i) {
      BOOST_TEST(has(fmt::format("live/{}/.terraform/providers", i)));
      BOOST_TEST(has(fmt::format("live/{}/.terraform/modules/vpc", i)));
    }
    write_root("live/new");
    const Ran unlocked = run(commands);
    BOOST_TEST(unlocked.exit_code == 3);
    BOOST_TEST(shown(unlocked.err).find("<dir>/root/live/new has no lock file.") != std::string::npos, unlocked.err);
    BOOST_TEST(std::regex_search(unlocked.err, std::regex("\nlive/new +FROZEN ")), unlocked.err);
    BOOST_TEST(unlocked.err.find("run: tofu-modlock lock --chdir live/new") != std::string::npos, unlocked.err);
    BOOST_TEST(unlocked.err.find("11 root modules: 10 ok, 1 failed (exit code 3).") != std::string::npos, unlocked.err);
    fs::remove_all(root() / "live/new");
    const std::string before = read("live/7/main.tf");
    write("live/7/main.tf", before + module_call("more", "git::" + vpc.url() + "?ref=v1.0.0"));
    const Ran outdated = run(commands);
    BOOST_TEST(outdated.exit_code == 3);
    BOOST_TEST(outdated.err.find("Error in live/7: ") != std::string::npos, outdated.err);
    write("live/7/main.tf", before);
    BOOST_TEST(program({"git", "status", "--porcelain"}).out == "");
  }

  ProviderRegistry registry;
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(ci_page, CiPage, *needs("tofu or terraform"))

BOOST_AUTO_TEST_CASE(every_block_passes_and_fails_as_the_page_says) {
  const std::vector<std::string> lines = read_page_block("# In CI", "sh");
  std::string script;
  for (const std::string& line : lines) {
    script += line + "\n";
  }
  std::vector<std::string> github;  // which action_test.py shows to be what the action runs
  for (const std::string& line : read_page_block("## GitHub Actions", "yaml")) {
    if (const std::size_t at = line.find(" client: "); at != std::string::npos) {
      github.push_back("tofu-modlock ci --recursive -- " + line.substr(at + 9));
    }
  }
  BOOST_REQUIRE(github.size() == 1U);
  const std::vector<std::string> gitlab = read_commands(read_page_block("## GitLab", "yaml"));
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      use(client);
      BOOST_TEST_CONTEXT("the script") {
        check({script});
      }
      BOOST_TEST_CONTEXT("GitHub") {
        check(github);
      }
      use(client, false);
      BOOST_TEST_CONTEXT("GitLab, inline blocks") {
        check(gitlab);
      }
    }
  }
}

// The case above runs the commands of the files.
BOOST_AUTO_TEST_CASE(init_writes_the_blocks_of_the_page) {
  for (const auto& [kind, file, heading] :
       {std::tuple{"github", ".github/workflows/tofu-modlock.yml", "## GitHub Actions"},
        std::tuple{"gitlab", ".gitlab-ci.yml", "## GitLab"}}) {
    BOOST_TEST_CONTEXT(kind) {
      const Ran ran = modlock({"init", "--ci", kind});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      std::string block;
      for (const std::string& line : read_page_block(heading, "yaml")) {
        block += line + "\n";
      }
      BOOST_TEST(read(file) == block);
    }
  }
}

// The entry of the hook runs in a shell, as pre-commit runs it with `language: system`.
BOOST_AUTO_TEST_CASE(init_writes_settings_that_lock_reads_and_a_hook_that_runs) {
  use(clients().front());
  BOOST_TEST(modlock({"init", "--all"}).exit_code == 0);
  const std::string config = read(".pre-commit-config.yaml");
  const std::size_t entry = config.find("entry: ") + 7;
  const std::vector<std::string> hook = {config.substr(entry, config.find('\n', entry) - entry)};
  BOOST_TEST(hook.front() == "tofu-modlock lock --frozen --include modules --recursive .");
  const Ran fine = run(hook);
  BOOST_TEST(fine.exit_code == 0, fine.err);
  write_root("live/new");
  BOOST_TEST(run(hook).exit_code == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
