// How often a command or a hook opens the lock file, the sidecar and the settings of a root, and starts git for the
// repository of the root. A command reads each file once, and compares what it writes with the file before. It asks git
// only if an entry is missing, a version changes, or a merge left a conflict.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "backends/base/files.h"
#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A program of ours under strace; each run leaves its trace in `traces`.
struct TracedScene : TerragruntScene {
  TracedScene() {
    fs::remove(path("bin/tofu-modlock"));
    write_text(path("bin/tofu-modlock"),
               fmt::format("#!/bin/sh\nexec strace -f -qq -e trace=openat,execve -o {}/$$ {} \"$@\"\n",
                           path("traces").string(), binary));
    fs::permissions(path("bin/tofu-modlock"), fs::perms::owner_all);
  }

  // Returns how often the files were opened by each run of ours in `ran`, in their order: "lock 2, sidecar 1, settings
  // 1".
  template <typename Ran>
  std::string opened(const Ran& ran) {
    fs::remove_all(path("traces"));
    fs::create_directory(path("traces"));
    const auto result = ran();
    BOOST_TEST_REQUIRE(result.exit_code == 0, result.out + result.err);
    std::map<fs::file_time_type, std::string> runs;
    for (const auto& trace : fs::directory_iterator(path("traces"))) {
      const std::string text = read_text(trace.path());
      runs[trace.last_write_time()] +=
          fmt::format("lock {}, sidecar {}, settings {}", occurrences(text, "/.terraform.lock.hcl\", O_RDONLY"),
                      occurrences(text, "/.terraform.modules.lock.hcl\", O_RDONLY"), occurrences(text, settings_));
      asks_git_ = occurrences(text, "\"protocol.allow=never\"") != 0;
      committed_files_ = occurrences(text, "\"blob\", \"HEAD:./");
    }
    std::string all;
    for (const auto& [time, run] : runs) {
      all += (all.empty() ? "" : "; ") + run;
    }
    return all;
  }
  std::string opened_by(std::vector<std::string> command) {
    settings_ = (root() / ".tofu-modlock.hcl").string() + "\", O_RDONLY";
    command.insert(command.begin(), path("bin/tofu-modlock").string());
    return opened([&] { return program(command); });
  }
  std::string opened_by_hooks(const std::string& command) {
    settings_ = (root() / "live/vpc/.tofu-modlock.hcl").string() + "\", O_RDONLY";
    return opened([&] { return terragrunt({command}); });
  }

  std::string settings_;
  bool asks_git_ = false;            // the last run, about the repository of the root
  std::size_t committed_files_ = 0;  // that the last run read from the last commit
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(opened_files, TracedScene, *needs("strace"))

BOOST_AUTO_TEST_CASE(of_a_command) {
  write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("other", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  // The second time before it is written. The client that "Next:" names is found with one more reading, and after the
  // first inline blocks, whether a setting decides on their place.
  BOOST_TEST(opened_by({"lock"}) == "lock 3, sidecar 2, settings 3");
  BOOST_TEST(committed_files_ == 2);  // each lock file once, and not for each call
  BOOST_TEST(program({"sh", "-c",
                      "git init -q && git add .terraform.lock.hcl main.tf && "
                      "git -c user.name=a -c user.email=b commit -qm lock"})
                 .exit_code == 0);
  release(vpc, "1.0.1");
  struct Row {
    std::vector<std::string> command;
    const char* opened;
    bool asks_git = false;
  };
  for (const Row& row : std::vector<Row>{
           {{"lock"}, "lock 1, sidecar 1, settings 1"},
           {{"lock", "--frozen"}, "lock 1, sidecar 1, settings 1"},
           {{"install"}, "lock 1, sidecar 1, settings 1"},
           {{"verify"}, "lock 2, sidecar 1, settings 2"},  // with "Next:"
           {{"explain", "vpc"}, "lock 1, sidecar 1, settings 1"},
           {{"diff"}, "lock 1, sidecar 1, settings 1", true},  // the tag of another version may have been locked before
           {{"update", "vpc=1.0.1", "--dry-run"}, "lock 1, sidecar 1, settings 1", true},
       }) {
    BOOST_TEST_CONTEXT(row.command.front()) {
      BOOST_TEST(opened_by(row.command) == row.opened);
      BOOST_TEST(asks_git_ == row.asks_git);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_a_hook) {
  // Those of the unit and of the working directory are two files of one name. The hooks before a command also compare
  // each file of the unit with what Terragrunt copied.
  BOOST_TEST(opened_by_hooks("init") == "lock 10, sidecar 9, settings 1; lock 3, sidecar 1, settings 1");
  BOOST_TEST(opened_by_hooks("init") == "lock 7, sidecar 5, settings 1; lock 3, sidecar 1, settings 1");
  BOOST_TEST(opened_by_hooks("plan") == "lock 3, sidecar 3, settings 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
