// A renamed call, or one that moves into a local module, keeps what was reviewed.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

// A module that calls another one, both locked before newer versions appeared.
struct Renaming : Scene {
  Renaming() : vpc(repository("vpc.git")), zone(repository("zone.git")) {
    release(zone, "1.0.0");
    name_id(vpc.commit({{"main.tf", module_call("zone", "git::" + zone.url())}}), "vpc 1.0.0");
    vpc.tag("v1.0.0");
    configure(call("vpc"), "vpc");
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
    BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
    release(zone, "1.1.0");
    release(vpc, "1.1.0", {{"more.tf", module_call("zone", "git::" + zone.url())}});
  }
  std::string call(const std::string& name) const { return module_call(name, "git::" + vpc.url()); }
  // `key` is that of the call.
  void configure(const std::string& main, const std::string& key) const {
    write("main.tf", main);
    write(".tofu-modlock.hcl", module_rule(key, "~> 1.0") + module_rule(key + ".zone", "~> 1.0"));
  }

  GitRepository& vpc;
  GitRepository& zone;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(renamed_calls, Renaming)

BOOST_AUTO_TEST_CASE(settings_block_of_the_old_name_is_named_with_the_new_one) {
  write("main.tf", call("network"));
  const std::string before = lock();
  const Ran refused = modlock({"lock"});
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("Error: the block module \"vpc\" matches no module call [CONFIG_PARSE]\n"
                              "  at .tofu-modlock.hcl:1:1\n") != std::string::npos,
             refused.err);
  BOOST_TEST(refused.err.find("the call was renamed: rename the block to module \"network\"\n") != std::string::npos,
             refused.err);
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(settings_block_above_the_root_of_the_old_name_is_an_error) {
  BOOST_REQUIRE(program({"git", "init", "--quiet", ".."}).exit_code == 0);
  std::filesystem::remove(root() / ".tofu-modlock.hcl");
  const std::string old = module_rule("vpc", "~> 1.0");
  write_text(path(".tofu-modlock.hcl"), old);
  const std::string pinned = module_call("two", "git::" + vpc.url() + "?ref=v1.1.0");
  const std::string before = lock();
  struct Row {
    const char* name;
    std::string main;
    std::string hint;
  };
  for (const Row& row :
       {Row{"one call", call("network"),
            "hint: the call was renamed: rename the block to module \"network\", or add a block module \"network\" if "
            "other root modules still have module \"vpc\"\n"},
        Row{"next to a pinned call", call("network") + pinned, "rename the block to module \"network\", or add"},
        Row{"two calls", call("a") + call("b"),
            "hint: the call was renamed: add the blocks module \"a\" and module \"b\"\n"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", row.main);
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"lock"}, {"lock", "--dry-run"}, {"upgrade"}}) {
        const Ran refused = modlock(command);
        BOOST_TEST(refused.exit_code == 8);
        BOOST_TEST(refused.err.find("Error: the block module \"vpc\" matches no module call [CONFIG_PARSE]\n"
                                    "  at ../.tofu-modlock.hcl:1:1\n") != std::string::npos,
                   refused.err);
        BOOST_TEST(refused.err.find(row.hint) != std::string::npos, refused.err);
      }
      BOOST_TEST(lock() == before);
    }
  }
  write("main.tf", call("network"));
  write_text(path(".tofu-modlock.hcl"), old + module_rule("network", "~> 1.0"));
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.err == "");
  BOOST_TEST(locked_commits(*this)["network"] == "<vpc 1.0.0>");
}

BOOST_AUTO_TEST_CASE(settings_block_of_the_old_name_is_an_error_also_if_the_client_dropped_the_module_blocks) {
  BOOST_REQUIRE(program({"git", "init", "--quiet", ".."}).exit_code == 0);
  std::filesystem::remove(root() / ".tofu-modlock.hcl");
  write_text(path(".tofu-modlock.hcl"), module_rule("vpc", "~> 1.0"));
  BOOST_REQUIRE(program({"git", "add", "--all", "."}).exit_code == 0);
  BOOST_REQUIRE(program({"git", "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "--quiet", "-m", "1"})
                    .exit_code == 0);
  write("main.tf", call("network"));
  write(".terraform.lock.hcl", "# This file is maintained automatically by \"tofu init\".\n");
  const Ran refused = modlock({"lock"});
  BOOST_TEST(refused.exit_code == 8, refused.out);
  BOOST_TEST(
      refused.err.find("hint: the call was renamed: rename the block to module \"network\"") != std::string::npos,
      refused.err);
}

BOOST_AUTO_TEST_CASE(settings_block_of_the_old_name_is_an_error_of_each_command) {
  write("main.tf", call("network"));
  for (const bool is_dropped : {false, true}) {
    if (is_dropped) {
      write(".terraform.lock.hcl", "# This file is maintained automatically by \"tofu init\".\n");
    }
    for (const std::vector<std::string>& command : {std::vector<std::string>{"verify"},
                                                    {"status"},
                                                    {"inspect"},
                                                    {"outdated"},
                                                    {"update", "network"},
                                                    {"update", "network=1.1.0"}}) {
      BOOST_TEST_CONTEXT(command.front() << " " << command.back() << (is_dropped ? ", dropped" : "")) {
        const Ran refused = modlock(command);
        BOOST_TEST(refused.exit_code == 8, refused.out);
        BOOST_TEST(refused.err.find("Error: the block module \"vpc\" matches no module call [CONFIG_PARSE]\n"
                                    "  at .tofu-modlock.hcl:1:1\n") != std::string::npos,
                   refused.err);
        BOOST_TEST(refused.err.find("hint: the call was renamed: rename the block to module \"network\"\n") !=
                       std::string::npos,
                   refused.err);
        BOOST_TEST(read("main.tf") == call("network"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_deleted_call_leaves_its_settings_block_above_the_root_unused) {
  BOOST_REQUIRE(program({"git", "init", "--quiet", ".."}).exit_code == 0);
  std::filesystem::remove(root() / ".tofu-modlock.hcl");
  write_text(path(".tofu-modlock.hcl"), module_rule("vpc", "~> 1.0"));
  write("main.tf", module_call("zone", "git::" + zone.url()));
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.err == "");
}

BOOST_AUTO_TEST_CASE(keep_what_is_locked) {
  configure(call("network"), "network");
  const Ran verified = modlock({"verify"});
  BOOST_TEST(verified.exit_code == 3);
  BOOST_TEST(verified.out.find("not-locked  module.network ") == 0U, verified.out);
  const Ran frozen = modlock({"lock", "--frozen"});
  BOOST_TEST(frozen.exit_code == 3);
  BOOST_TEST(frozen.err.find("module.network (it was module.vpc)") != std::string::npos, frozen.err);
  BOOST_TEST(modlock({"install"}).exit_code == 3);
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.out.find("module.network       1.0.0  renamed from module.vpc  (~> 1.0)\n"
                             "module.network.zone  1.0.0  renamed from module.vpc.zone  (~> 1.0)\n\n") == 0U,
             locked.out);
  BOOST_TEST((locked_commits(*this) == Commits{{"network", "<vpc 1.0.0>"}, {"network.zone", "<1.0.0>"}}));
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(into_a_local_module_keep_it_too) {
  write("app/main.tf", module_call("vpc", "git::" + vpc.url()));
  configure(module_call("app", "./app"), "app.vpc");
  const Json::Value changes = json({"lock"})["changes"];
  BOOST_REQUIRE(changes.size() == 2U);
  BOOST_TEST(changes[0]["action"].asString() == "renamed");
  BOOST_TEST(changes[0]["subject"].asString() == "module.app.vpc");
  BOOST_TEST(changes[0]["previousSubject"].asString() == "module.vpc");
  BOOST_TEST((locked_commits(*this) == Commits{{"app.vpc", "<vpc 1.0.0>"}, {"app.vpc.zone", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(after_a_client_dropped_the_blocks_keep_it_too) {
  write(".terraform.lock.hcl", "");
  configure(call("network"), "network");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"network", "<vpc 1.0.0>"}, {"network.zone", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(are_named_in_a_summary) {
  configure(call("network"), "network");
  const Ran ran = modlock({"update", "module.network=1.1.0", "--format", "markdown"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("| `module.network` | updated (was `module.vpc`) | `1.0.0` | `1.1.0` | `~> 1.0` |\n") !=
                 std::string::npos,
             ran.out);
}

BOOST_AUTO_TEST_CASE(are_renamed_by_an_update) {
  release(vpc, "2.0.0", {{"more.tf", module_call("zone", "git::" + zone.url())}});
  struct Row {
    const char* name;
    const char* action;
    std::string query;
    std::string constraint;  // in the settings
  };
  for (const Row& row : {Row{"constraint", "updated", "", "~> 1.0"}, Row{"tag", "source-changed", "?ref=v1.0.0", ""}}) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::string name : {"vpc", "network"}) {
        write("main.tf", module_call(name, "git::" + vpc.url() + row.query));
        write(".tofu-modlock.hcl", (row.constraint.empty() ? "" : module_rule(name, row.constraint)) +
                                       module_rule(name + ".zone", "~> 1.0"));
        if (name == "vpc") {
          BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
        }
      }
      const Json::Value changes = json({"update", "network=2.0.0", "--dry-run"})["changes"];
      BOOST_REQUIRE(changes.size() == 2U);
      BOOST_TEST(changes[0]["subject"].asString() == "module.network");
      BOOST_TEST(changes[0]["action"].asString() == row.action);
      BOOST_TEST(changes[0]["previousSubject"].asString() == "module.vpc");
      BOOST_TEST(changes[1]["action"].asString() == "renamed");
      BOOST_TEST(changes[1]["previousSubject"].asString() == "module.vpc.zone");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
