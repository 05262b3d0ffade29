// `tofu-modlock hook` and scripts/terragrunt/modlock.hcl below a stand-in that runs hooks as Terragrunt does.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/hosts/terragrunt_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVpcBlock =
    "module \"vpc\" {\n  version = \"1.0.0\"\n  source  = \"git::file://<dir>/repositories/vpc.git\"\n\n"
    "  constraints = \"~> 1.0\"\n\n  hashes = [\n    \"git:<1.0.0>\",\n    \"h1:";

BOOST_FIXTURE_TEST_SUITE(terragrunt, TerragruntScene)

BOOST_AUTO_TEST_CASE(init_locks_installs_and_restores) {
  const Ran ran = terragrunt({"init"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "client: <init> <-get=false>\n");
  BOOST_TEST(ran.err == "live/vpc: module.vpc  1.0.0  (~> 1.0)\nlive/vpc: module.vpc  1.0.0  restored  (~> 1.0)\n");
  const std::string expected = "# by the client\n\n" + std::string(kVpcBlock);
  BOOST_TEST(shown(unit_lock()).starts_with(expected), unit_lock());
  BOOST_TEST(read_text(working_directory() / ".terraform.lock.hcl") == unit_lock());
  BOOST_TEST(fs::exists(working_directory() / ".terraform/modules/vpc/main.tf"));
}

BOOST_AUTO_TEST_CASE(the_setting_of_the_user_makes_links) {
  write_text(path("home/.config/tofu-modlock/config.hcl"), "install = \"link\"\n");
  for (const char* command : {"init", "plan", "init"}) {
    const Ran ran = terragrunt({command});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(fs::is_symlink(working_directory() / ".terraform/modules/vpc"));
  }
  const fs::path file = working_directory() / ".terraform/modules/vpc/main.tf";
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, "# changed\n");
  BOOST_TEST(terragrunt({"plan"}).err.find("main.tf was changed") != std::string::npos);
  BOOST_TEST(terragrunt({"init"}).exit_code == 0);
  BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
}

// A replacement is for a root module that the user works on, not for Terragrunt's copies.
BOOST_AUTO_TEST_CASE(units_get_the_locked_packages_and_no_replacements) {
  write("work/main.tf", "# work\n");
  write_text(path("home/.config/tofu-modlock/config.hcl"),
             "source \"git::file://*/vpc.git*\" {\n  replace = \"" + (root() / "work").string() + "\"\n}\n");
  for (const char* place : {"live/vpc/", "catalog/"}) {
    write(std::string(place) + ".tofu-modlock.local.hcl", "module \"vpc\" {\n  replace = \"../../work\"\n}\n");
  }
  for (const char* command : {"init", "plan"}) {
    const Ran ran = terragrunt({command});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(read_text(working_directory() / ".terraform/modules/vpc/main.tf").find("# work") == std::string::npos);
  }
  // The same settings of the user apply to the module itself.
  fs::remove(root() / "catalog/.tofu-modlock.local.hcl");
  BOOST_TEST(modlock({"lock", "--install", "--chdir", "catalog"}).exit_code == 0);
  BOOST_TEST(modlock({"install", "--chdir", "catalog"}).exit_code == 0);
  BOOST_TEST(read("catalog/.terraform/modules/vpc/main.tf") == "# work\n");
}

BOOST_AUTO_TEST_CASE(what_is_locked_stays) {
  terragrunt({"init"});
  const std::string before = unit_lock();
  release(vpc, "1.1.0");
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  const Ran ran = terragrunt({"init"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(unit_lock() == before);
}

BOOST_AUTO_TEST_CASE(a_plan_is_made_of_what_is_locked) {
  const Ran first = terragrunt({"plan", "-json"});
  BOOST_TEST(first.exit_code == 0, first.err);
  BOOST_TEST(first.out == "client: <init> <-get=false>\nclient: <plan> <-json>\n");
  name_text(working_directory().string(), "<working directory>");

  write_text(working_directory() / ".terraform/modules/vpc/main.tf", "output \"version\" {\n  value = \"mine\"\n}\n");
  for (const char* command : {"plan", "apply", "destroy", "refresh", "import", "test"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran ran = terragrunt({command});
      BOOST_TEST(ran.exit_code == 1);
      BOOST_TEST(ran.out == "");
      BOOST_TEST(ran.err ==
                 "Error: the installed modules of <dir>/root/live/vpc do not match the lock file\n"
                 "  module.vpc  tampered: 1 file differs from the locked package\n"
                 "    main.tf was changed\n"
                 "  hint: run: terragrunt init\n"
                 "hook modlock_verify: exit code 4\n");
    }
  }
  BOOST_TEST(terragrunt({"output", "-json"}).out == "client: <output> <-json>\n");

  BOOST_TEST(terragrunt({"init"}).exit_code == 1);  // restores it, and reports the change once
  BOOST_TEST(terragrunt({"init"}).exit_code == 0);
  BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(no_plan_is_made_of_a_stale_module) {
  terragrunt({"init"});
  const std::string older = unit_lock();
  release(vpc, "1.1.0");
  terragrunt({"init", "-upgrade"});
  name_text(working_directory().string(), "<working directory>");
  // Another branch of the repository.
  write("live/vpc/.terraform.lock.hcl", older);
  write_text(working_directory() / ".terraform.lock.hcl", older);
  const Ran ran = terragrunt({"plan"});
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err ==
             "Error: the installed modules of <dir>/root/live/vpc do not match the lock file\n"
             "  module.vpc  stale: 1.1.0 is installed, 1.0.0 is locked\n"
             "  hint: run: terragrunt init\n"
             "hook modlock_verify: exit code 3\n");
  BOOST_TEST(terragrunt({"init"}).exit_code == 0);
  BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(in_ci_nothing_is_locked) {
  for (const bool after_a_run : {false, true}) {
    BOOST_TEST_CONTEXT((after_a_run ? "a run whose lock files were deleted" : "nothing")) {
      const std::string note =
          "  note: .terraform.lock.hcl had module blocks, and they were removed; run: tofu-modlock lock, which "
          "restores "
          "them, without network access if their packages are in the cache; to keep them in a file that no client "
          "writes, set module_lock_file = \"sidecar\"\n";
      environment["CI"] = "true";
      for (int run = 1; run <= 2; ++run) {
        const Ran ran = terragrunt({"init"});
        BOOST_TEST(ran.exit_code == 1);
        BOOST_TEST(ran.out == "");
        BOOST_TEST(ran.err ==
                   "Error: the missing .terraform.lock.hcl does not match the configuration: module.vpc (not locked) "
                   "[FROZEN]\n" +
                       (after_a_run ? note : "") +
                       "  hint: run: terragrunt init without the variable CI, review the change and "
                       "commit it\n"
                       "hook modlock_install: exit code 3\n");
        BOOST_TEST(!has("live/vpc/.terraform.lock.hcl"));
      }
      environment["CI"] = "";
      terragrunt({"init"});
      fs::remove(root() / "live/vpc/.terraform.lock.hcl");
      fs::remove(working_directory() / ".terraform.lock.hcl");
    }
  }

  environment["CI"] = "";
  terragrunt({"init"});
  const std::string locked = unit_lock();
  release(vpc, "1.1.0");
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["CI"] = "true";
  BOOST_TEST(terragrunt({"init", "-upgrade"}).exit_code == 0);
  BOOST_TEST(unit_lock() == locked);
}

// `init` has -get=false in any case, so the hook before it runs `get` of the client.
BOOST_AUTO_TEST_CASE(calls_that_need_no_lock_are_downloaded_by_the_client) {
  write("catalog/h.tf", module_call("h", "hg::https://hg.example.test/net"));
  const std::string rule = read("live/vpc/.tofu-modlock.hcl");
  const std::string setting = rule + "unlocked_sources = [\"hg::*\"]\n";
  const std::string records = "[ \"$1\" != get ] || echo \"$@\" >> got; ";
  struct Row {
    const char* name;
    std::string settings;
    const char* variable;
    bool in_ci;
    std::string client_does;  // besides
    int exit_code;
    std::string got;  // by the client
    std::string err;  // a part
  };
  const std::string gets = "get -no-color -update=false\n";
  const std::string allowed = "1 call is not locked, as allowed: module.h; calls inside it are not checked";
  const std::string warned = "Warning: module \"h\" is not locked: hg sources are not supported";
  terragrunt({"init"});
  for (const Row& row : {
           Row{"allowed", setting, "", false, "", 0, gets, allowed},
           Row{"allowed by a variable, in CI", rule, "hg::*", true, "", 0, gets, allowed},
           Row{"not allowed", rule, "", false, "", 0, "", warned},
           Row{"not allowed, in CI", rule, "", true, "", 1, "", "Error: module \"h\" is not locked"},
           Row{"allowed by a change, in CI", setting, "", true, "", 1, "",
               "in CI the revision of --base must have this glob too"},
           Row{"the client fails", setting, "", false, "[ \"$1\" != get ] || { echo no network >&2; exit 1; }; ", 1,
               gets, "the client cannot download the calls that are not locked"},
           Row{"the client replaces a locked module", setting, "", false,
               "[ \"$1\" != get ] || echo '# other' > .terraform/modules/vpc/main.tf; ", 1, gets,
               "module.vpc  tampered"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write("live/vpc/.tofu-modlock.hcl", row.settings);
      environment["TOFU_MODLOCK_UNLOCKED_SOURCES"] = row.variable;
      environment["CI"] = row.in_ci ? "true" : "";
      environment["CLIENT_DOES"] = records + row.client_does;
      fs::remove(working_directory() / "got");
      const Ran ran = terragrunt({"init"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.err) != std::string::npos, ran.err);
      BOOST_TEST((row.got.empty() ? !fs::exists(working_directory() / "got")
                                  : read_text(working_directory() / "got") == row.got));
      if (row.exit_code == 0) {
        BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_deleted_lock_file_is_not_replaced_silently) {
  terragrunt({"init"});
  const std::string locked = unit_lock();
  const std::string place = shown(working_directory().string());
  fs::remove(root() / "live/vpc/.terraform.lock.hcl");
  environment["CI"] = "true";
  for (const char* command : {"init", "plan"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran refused = terragrunt({command});
      BOOST_TEST(refused.exit_code == 1);
      BOOST_TEST(refused.out == "");
      BOOST_TEST(refused.err.starts_with(
                     "Error: the unit <dir>/root/live/vpc has no lock file, only that of an earlier run in " + place +
                     " [FROZEN]\n"
                     "  hint: run: terragrunt init without the variable CI, review the change and "
                     "commit it\n"),
                 refused.err);
      BOOST_TEST(!has("live/vpc/.terraform.lock.hcl"));
    }
  }
  environment["CI"] = "";
  const Ran ran = terragrunt({"init"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err.starts_with("live/vpc: the unit has no lock file; that of the last run is used again\n"), ran.err);
  BOOST_TEST(unit_lock() == locked);
}

BOOST_AUTO_TEST_CASE(an_upgrade_is_one_of_modules_too) {
  struct Row {
    std::vector<std::string> arguments;
    const char* variable;
    const char* value;
    bool upgrades;
  };
  const Row rows[] = {
      {{"init", "-upgrade"}, "", "", true},
      {{"init", "-upgrade=true"}, "", "", true},
      {{"init", "-upgrade=1"}, "", "", true},
      {{"init", "-upgrade=false"}, "", "", false},
      {{"init"}, "TF_CLI_ARGS_init", "-input=false --upgrade=true", true},
      {{"init"}, "TF_CLI_ARGS", "-upgrade", true},
      {{"get"}, "TF_CLI_ARGS_init", "-upgrade", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.arguments.back() << " " << row.value) {
      TerragruntScene scene;
      scene.terragrunt({"init"});
      scene.release(scene.vpc, "1.1.0");
      if (row.variable[0] != '\0') {
        scene.environment[row.variable] = row.value;
      }
      const Ran ran = scene.terragrunt(row.arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const std::string commit = row.upgrades ? "\"git:<1.1.0>\"" : "\"git:<1.0.0>\"";
      BOOST_TEST(scene.shown(scene.unit_lock()).find(commit) != std::string::npos, scene.unit_lock());
      const std::string installed = read_text(scene.working_directory() / ".terraform/modules/vpc/main.tf");
      BOOST_TEST((installed.find("1.1.0") != std::string::npos) == row.upgrades);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_client_downloads_makes_room) {
  environment["CLIENT_DOES"] = "echo '# newer' > .terraform/modules/vpc/main.tf";
  BOOST_TEST(terragrunt({"init"}).exit_code == 0);
  environment["CLIENT_DOES"] = "";
  BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(blocks_come_back_where_the_client_fails) {
  environment["CLIENT_EXIT"] = "1";
  BOOST_TEST(terragrunt({"init"}).exit_code == 1);
  BOOST_TEST(shown(unit_lock()).find(kVpcBlock) != std::string::npos, unit_lock());
}

BOOST_AUTO_TEST_CASE(a_lock_file_that_fits_is_left_untouched) {
  terragrunt({"init"});
  environment["CLIENT_DOES"] = "touch -d @86400 .terraform.lock.hcl; exit 0";  // nothing to change in it
  BOOST_TEST(terragrunt({"init"}).exit_code == 0);
  const Ran ran = program({"stat", "-c", "%Y", (working_directory() / ".terraform.lock.hcl").string()});
  BOOST_TEST(ran.out == "86400\n");
}

// What the lock files of a unit are, as bytes.
struct LockTexts {
  explicit LockTexts(const TerragruntScene& scene) {
    for (const char* name : {"live/vpc/.terraform.lock.hcl", "live/vpc/.terraform.modules.lock.hcl"}) {
      all += scene.has(name) ? scene.read(name) + "\n--\n" : "none\n--\n";
    }
  }
  std::string all;
};

// The hook after a command runs also if the hook before it refused the command. It locks nothing.
BOOST_AUTO_TEST_CASE(a_refused_command_changes_no_lock_file) {
  struct Row {
    const char* name;
    std::function<void(TerragruntScene&)> change;  // after 1.0.0 was locked, 1.1.0 is in the cache, and Git has both
    std::vector<std::string> arguments;
    const char* ci;
    const char* error;  // empty: it is not refused
  };
  const auto call = [](TerragruntScene& scene, const std::string& name, const std::string& version) {
    scene.write("catalog/" + name + ".tf", module_call(name, "git::" + scene.vpc.url() + "?ref=v" + version));
  };
  const auto bump = [&](TerragruntScene& scene) {
    scene.write("live/vpc/.tofu-modlock.hcl", module_rule("vpc", "~> 1.1"));
  };
  const auto new_call = [&](TerragruntScene& scene) { call(scene, "other", "1.1.0"); };
  const auto unknown = [&](TerragruntScene& scene) { call(scene, "other", "3.0.0"); };
  const auto deny = [](TerragruntScene& scene) {
    scene.write("live/vpc/.tofu-modlock.hcl",
                module_rule("vpc", "~> 1.1") + "deny \"*/repositories/vpc\" {\n  versions = \">= 1.0.0\"\n}\n");
  };
  const std::vector<Row> rows = {
      {"a bump", bump, {"init"}, "true", "[FROZEN]"},
      {"a bump, and get", bump, {"get"}, "true", "[FROZEN]"},
      {"a bump, and plan", bump, {"plan"}, "true", "not-locked: "},
      {"a new call", new_call, {"init"}, "true", "[FROZEN]"},
      {"a denied release", deny, {"init"}, "", "[RELEASE_DENIED]"},
      {"a new call, and one that has no version", unknown, {"init"}, "", "[NOT_FOUND]"},
      {"nothing", [](TerragruntScene&) {}, {"init"}, "true", ""},
      {"nothing, and get", [](TerragruntScene&) {}, {"get"}, "true", ""},
      {"nothing, and providers lock", [](TerragruntScene&) {}, {"providers", "lock"}, "", ""},
  };
  for (const char* place : {"inline", "sidecar"}) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(row.name << ", " << place << ", CI=" << row.ci) {
        TerragruntScene scene;
        scene.write(".tofu-modlock.hcl", "module_lock_file = \"" + std::string(place) + "\"\n");
        BOOST_REQUIRE(scene.terragrunt({"init"}).exit_code == 0);
        const std::string locked = LockTexts(scene).all;
        scene.release(scene.vpc, "1.1.0");
        scene.add_unit("live/other");
        BOOST_REQUIRE(scene.terragrunt({"init"}, "", "live/other").exit_code == 0);
        row.change(scene);
        scene.environment["CI"] = row.ci;
        for (int run = 1; run <= 2; ++run) {
          const Ran ran = scene.terragrunt(row.arguments);
          BOOST_TEST((ran.exit_code == 0) == (row.error[0] == '\0'), ran.err);
          BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
          BOOST_TEST(LockTexts(scene).all == locked);
        }
      }
    }
  }
}

// Another branch has another lock file. What an earlier command left in Terragrunt's cache does not matter.
BOOST_AUTO_TEST_CASE(blocks_come_back_as_they_were_before_the_command) {
  terragrunt({"init"});
  const std::string older = unit_lock();
  release(vpc, "1.1.0");
  terragrunt({"init", "-upgrade"});
  const std::string newer = unit_lock();
  BOOST_REQUIRE(newer != older);
  for (const char* command : {"init", "providers"}) {
    for (const std::string& lock : {older, newer}) {
      const std::string noted = "# reviewed\n" + lock.substr(0, lock.find("\n  hashes")) + "\n  # why\n" +
                                lock.substr(lock.find("\n  hashes"));
      for (const std::string& text : {lock, noted}) {
        BOOST_TEST_CONTEXT(command << " " << text) {
          write("live/vpc/.terraform.lock.hcl", text);
          environment["CLIENT_DOES"] =
              "grep -v -e '^module' -e '^  ' -e '^}' .terraform.lock.hcl | sed -e '2,$d' >new; mv new "
              ".terraform.lock.hcl; exit 0";
          environment["CI"] = "true";
          BOOST_TEST(terragrunt({command, "lock"}).exit_code == 0);
          const std::string now = unit_lock();
          BOOST_TEST(now.substr(now.find("module")).find(text.substr(text.find("\n  hashes"))) != std::string::npos,
                     now);
          environment["CI"] = "";
        }
      }
    }
  }
}

// Git does not track Terragrunt's copy of a unit, and nothing has to be restored if the client leaves the lock file.
BOOST_AUTO_TEST_CASE(hooks_start_at_most_one_process) {
  terragrunt({"init"});
  const auto record = [this](const std::string& name, const char* text) {
    fs::remove(path(name));
    write_text(path(name), text);
    fs::permissions(path(name), fs::perms::owner_all);
  };
  record("bin/tofu-modlock", "#!/bin/sh\necho \"$2\" >>\"$STARTED\"\nexec \"$BINARY\" \"$@\"\n");
  record("bin/git", "#!/bin/sh\necho git \"$@\" >>\"$STARTED\"\n");
  environment["BINARY"] = binary;
  environment["STARTED"] = path("started").string();
  environment["PLACES"] = "1";  // starts nothing, because the source is there
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    const char* client_does;
    const char* started;
  };
  const Row rows[] = {
      {"init", {"init"}, "exit 0", "--unit\n"},
      {"init drops the blocks", {"init"}, "", "--unit\n--after\n"},
      {"init deletes the lock file", {"init"}, "rm .terraform.lock.hcl; exit 0", "--unit\n--after\n"},
      {"get", {"get"}, "", "--unit\n--after\n"},
      {"providers lock", {"providers", "lock"}, "", "--unit\n"},
      {"providers lock drops the blocks",
       {"providers", "lock"},
       "echo '# by the client' >.terraform.lock.hcl",
       "--unit\n--after\n"},
      {"init with a sidecar", {"init"}, "", "--unit\n"},
      {"plan", {"plan"}, "", "--unit\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      if (std::string(row.name).ends_with("sidecar")) {
        write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n");
        terragrunt({"init"});
      }
      write_text(path("started"), "");
      environment["CLIENT_DOES"] = row.client_does;
      const Ran ran = terragrunt(row.arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(read_text(path("started")) == row.started);
      const std::string locks =
          unit_lock() +
          (has("live/vpc/.terraform.modules.lock.hcl") ? read("live/vpc/.terraform.modules.lock.hcl") : "");
      BOOST_TEST(shown(locks).find(kVpcBlock) != std::string::npos, locks);
    }
  }
}

// What Terragrunt's cache holds came with somebody's package.
BOOST_AUTO_TEST_CASE(settings_are_those_of_the_unit) {
  release(vpc, "2.0.0");
  terragrunt({"init"});
  write_text(working_directory() / ".tofu-modlock.hcl", "deny_sources = [\"*\"]\n");
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\n");
  BOOST_TEST(terragrunt({"init", "-upgrade"}).exit_code == 0);
  BOOST_TEST(shown(unit_lock()).find("\"git:<1.0.0>\"") != std::string::npos, unit_lock());

  write(".tofu-modlock.hcl", "deny_sources = [\"git::*\"]\n");
  const Ran ran = terragrunt({"plan"});
  BOOST_TEST(ran.err.find("SOURCE_DENIED") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(a_file_of_its_own_for_module_blocks) {
  write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n");
  BOOST_TEST(terragrunt({"init"}).exit_code == 0);
  BOOST_TEST(unit_lock() == "# by the client\n");
  BOOST_TEST(shown(read("live/vpc/.terraform.modules.lock.hcl")).find(kVpcBlock) != std::string::npos);

  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["CI"] = "true";
  const Ran ran = terragrunt({"plan"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
}

BOOST_AUTO_TEST_CASE(units_at_once_on_one_store) {
  std::string units = "live/vpc";
  for (const char* unit : {"live/a", "live/b", "live/c", "live/d", "live/e"}) {
    add_unit(unit);
    units += std::string(",") + unit;
  }
  const Ran ran = terragrunt({"plan"}, "", units);
  BOOST_TEST(ran.exit_code == 0, ran.err);
  for (const char* unit : {"live/vpc", "live/a", "live/b", "live/c", "live/d", "live/e"}) {
    BOOST_TEST(unit_lock(unit) == unit_lock());
    BOOST_TEST(fs::exists(working_directory(unit) / ".terraform/modules/vpc/main.tf"));
  }
}

// It is what somebody types to approve an apply.
BOOST_AUTO_TEST_CASE(standard_input_is_left_to_the_client) {
  environment["CLIENT_DOES"] = "[ \"$1\" = init ] || cat";
  BOOST_TEST(terragrunt({"apply"}, "yes\nno\n").out == "client: <init> <-get=false>\nclient: <apply>\nyes\nno\n");
}

BOOST_AUTO_TEST_CASE(no_failure_is_run_again) {
  struct Row {
    const char* name;
    const char* source;
  };
  const Row rows[] = {
      {"a registry that is not there", "127.0.0.1:1/provider/tcp/timeout"},
      {"a repository that is not there", "git::http://127.0.0.1:1/registry-context deadline exceeded.git"},
      {"an archive", "http://127.0.0.1:1/provider-tcp-connection reset by peer.zip"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("live/vpc/.tofu-modlock.hcl", "");
      write("catalog/main.tf", module_call("vpc", row.source));
      const Ran ran = terragrunt({"init"});
      BOOST_TEST(ran.exit_code == 1, ran.err);
      BOOST_TEST(ran.err.find("hook modlock_install: exit code 7\n") != std::string::npos, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_it_cannot_be_asked) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    const char* err;
  };
  const Row rows[] = {
      {"a unit elsewhere",
       {"hook", "--unit", "../home", "--root", ".", "plan"},
       "Error: --unit <dir>/home is not below --root <dir>/root [INVALID_PARAMS]\n"
       "  hint: name the directory of the repository that holds the unit\n"},
      {"an empty unit",
       {"hook", "--unit", "", "--root", ".", "plan"},
       "Error: --unit must be a directory, found \"\" [INVALID_PARAMS]\n"
       "  hint: in terragrunt.hcl: --unit get_terragrunt_dir() and --root get_repo_root()\n"},
      {"no unit",
       {"hook", "--unit", "live/none", "--root", ".", "plan"},
       "Error: --unit must be a directory, found \"live/none\" [INVALID_PARAMS]\n"
       "  hint: in terragrunt.hcl: --unit get_terragrunt_dir() and --root get_repo_root()\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = modlock(row.arguments);
      BOOST_TEST(ran.exit_code == 2);
      BOOST_TEST(ran.out == "");
      BOOST_TEST(ran.err == row.err);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
