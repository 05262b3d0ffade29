// The commands that check units without Terragrunt: they report units whose hooks did not run.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct CheckedUnit : TerragruntScene {
  // `name` is that of a real Terragrunt; empty: the stand-in.
  explicit CheckedUnit(const std::string& name = {}) : stacks(repository("stacks.git")) {
    fs::remove_all(root() / ".git");
    program({"git", "init", "--quiet"});
    write(".gitignore", ".terragrunt-cache\n");
    stacks.commit({{"net/main.tf", read("catalog/main.tf")}});
    fs::remove_all(root() / "catalog");
    stacks.tag("v1.0.0");
    stacks.tag("v2.0.0");
    set_source("\"git::" + stacks.url() + "//net?ref=v1.0.0\"");
    environment["PLACES"] = "1";
    if (!name.empty()) {
      use_terragrunt("tofu");
      fs::create_symlink(*find_program(name), path("bin/terragrunt"));
    }
    const Ran ran = terragrunt({"init"});
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.out << ran.err);
  }
  // `more` is in the terraform block. The stand-in uses the first line.
  void set_source(const std::string& source, const std::string& more = "") {
    write("live/vpc/terragrunt.hcl",
          "# source = \"git::" + stacks.url() + "//net?ref=v1.0.0\"\ninclude \"modlock\" {\n" +
              "  path = \"${get_repo_root()}/modlock.hcl\"\n}\nterraform {\n  source = " + source + "\n" + more +
              "}\n");
  }
  void remove_cache() const { fs::remove_all(root() / "live/vpc/.terragrunt-cache"); }

  GitRepository& stacks;
};

struct CheckRow {
  const char* name;
  std::function<void(CheckedUnit&)> change;
  int exit_code;
  const char* text;
};

BOOST_AUTO_TEST_CASE(units_are_checked_without_terragrunt) {
  const auto edit = [](const char* file, const char* text) {
    return [=](CheckedUnit& unit) { write_text(unit.working_directory() / file, text); };
  };
  const auto hook = [](const std::string& text) {
    return [=](CheckedUnit& unit) { unit.set_source("\"git::" + unit.stacks.url() + "//net?ref=v1.0.0\"", text); };
  };
  // Instead of that of modlock.hcl.
  const auto verify_hook = [&](const std::string& words, const std::string& more = "",
                               const std::string& commands =
                                   R"("plan", "apply", "destroy", "refresh", "import", "test")",
                               const std::string& type = "before_hook") {
    return hook("  " + type + " \"modlock_verify\" {\n    commands = [" + commands + "]\n    execute = [" + words +
                "]\n" + more + "  }\n");
  };
  const auto merge = [](const std::string& strategy) {
    return [=](CheckedUnit& unit) {
      std::string text = unit.read("live/vpc/terragrunt.hcl");
      text.insert(text.find("  path"), "  merge_strategy = " + strategy + "\n");
      unit.write("live/vpc/terragrunt.hcl", text);
    };
  };
  const std::string of_unit = R"("hook", "--unit", get_terragrunt_dir(), "--root", get_repo_root())";
  const char* const overridden = "does not run the hooks of tofu-modlock: modlock_verify";
  const CheckRow rows[] = {
      {"nothing", [](CheckedUnit&) {}, 0, "2 verified"},
      {"no cache", [](CheckedUnit& unit) { unit.remove_cache(); }, 0, "1 verified"},
      {"another tag", [](CheckedUnit& unit) { unit.set_source("\"git::" + unit.stacks.url() + "//net?ref=v2.0.0\""); },
       3, "terragrunt:source"},
      {"no entry", [](CheckedUnit& unit) { fs::remove(unit.root() / "live/vpc/.terraform.lock.hcl"); }, 3,
       "not locked"},
      {"a computed source", [](CheckedUnit& unit) { unit.set_source("get_env(\"X\")"); }, 0, "verified"},
      {"a computed source without a cache",
       [](CheckedUnit& unit) {
         unit.set_source("get_env(\"X\")");
         unit.remove_cache();
       },
       0, "is not checked: only Terragrunt can compute it"},
      {"a changed download", edit("main.tf", "# foreign\n"), 4, "net/main.tf was changed"},
      {"an added file", edit("u.tf", "# foreign\n"), 4, "net/u.tf was added"},
      {"a download with a sidecar", edit(".terraform.modules.lock.hcl", "module \"x\" {\n  source = \"x/y/z\"\n}\n"), 0,
       "2 verified"},
      {"a changed module", edit(".terraform/modules/vpc/main.tf", "# foreign\n"), 4, "main.tf was changed"},
      {"a hook that is overridden",
       hook("  before_hook \"modlock_verify\" {\n    commands = [\"plan\"]\n    execute = "
            "[\"true\"]\n  }\n"),
       3, "does not run the hooks of tofu-modlock: modlock_verify"},
      {"a hook for no command",
       hook("  before_hook \"modlock_verify\" {\n    commands = []\n    execute = "
            "[\"tofu-modlock\"]\n  }\n"),
       3, "does not run the hooks of tofu-modlock: modlock_verify"},
      {"the name of the program as an argument", verify_hook("\"echo\", \"tofu-modlock hook init\""), 3, overridden},
      {"its command as arguments", verify_hook("\"echo\", \"tofu-modlock\", " + of_unit), 3, overridden},
      {"its command in a shell", verify_hook(R"("sh", "-c", "true tofu-modlock hook")"), 3, overridden},
      {"a hook for one command", verify_hook("\"tofu-modlock\", " + of_unit, "", "\"plan\""), 3, overridden},
      {"a hook for another command", verify_hook("\"tofu-modlock\", " + of_unit + ", \"none\""), 3, overridden},
      {"a hook that prints help", verify_hook("\"tofu-modlock\", " + of_unit + ", \"--help\""), 3, overridden},
      {"a hook for no source", verify_hook("\"tofu-modlock\", " + of_unit + ", \"--source\", \".\""), 3, overridden},
      {"a hook for another unit", verify_hook(R"("tofu-modlock", "hook", "--unit", "/", "--root", get_repo_root())"), 3,
       overridden},
      {"a hook in another directory", verify_hook("\"tofu-modlock\", " + of_unit, "    working_dir = \"/\"\n"), 3,
       overridden},
      {"a hook with a condition", verify_hook("\"tofu-modlock\", " + of_unit, "    if = false\n"), 3, overridden},
      {"a hook of a computed program", verify_hook("run_cmd(\"x\"), " + of_unit), 3, overridden},
      {"a hook of a variable without a default", verify_hook("get_env(\"SHELL\"), " + of_unit), 3, overridden},
      {"a hook by its path, for more commands",
       verify_hook("\"/opt/bin/tofu-modlock\", " + of_unit + R"(, "--strict", "--allow-unchecked-source", "live/*")",
                   "", R"("plan", "apply", "destroy", "refresh", "import", "test", "output")"),
       0, "2 verified"},
      {"a hook of a variable", verify_hook("get_env(\"TOFU_MODLOCK\", \"tofu-modlock\"), " + of_unit), 0, "2 verified"},
      {"a hook of another type with this name", verify_hook("\"true\"", "", "\"plan\"", "after_hook"), 0, "2 verified"},
      {"an include that is not merged", merge("\"no_merge\""), 3, "modlock_place, modlock_install, modlock_restore"},
      {"an include that may not be merged", merge("get_env(\"X\", \"no_merge\")"), 0,
       "includes a file that cannot be read, perhaps with the hooks"},
      {"an include that is merged", merge("\"${\"de\"}ep\""), 0, "2 verified"},
      {"another hook", hook("  before_hook \"mine\" {\n    commands = [\"plan\"]\n    execute = [\"true\"]\n  }\n"), 0,
       "2 verified"},
      {"configuration next to it", [](CheckedUnit& unit) { unit.write("live/vpc/more.tf", "# own\n"); }, 0,
       "2 verified"},
      {"a template above it",
       [](CheckedUnit& unit) {
         unit.write("terragrunt.hcl", "terraform {\n  source = \"git::${path_relative_to_include()}\"\n}\n");
       },
       0, "2 verified"},
      {"no hooks",
       [](CheckedUnit& unit) {
         unit.write("live/vpc/terragrunt.hcl",
                    "terraform {\n  source = \"git::" + unit.stacks.url() + "//net?ref=v1.0.0\"\n}\n");
       },
       3, "does not run the hooks of tofu-modlock: modlock_place, modlock_install, modlock_restore, modlock_verify"},
  };
  for (const CheckRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      CheckedUnit unit;
      row.change(unit);
      for (const std::vector<std::string>& command : {std::vector<std::string>{"verify", "live/vpc"},
                                                      {"verify", "--recursive"},
                                                      {"status", "--offline", "live/vpc"},
                                                      {"lock", "--frozen", "live/vpc"},
                                                      {"ci", "--recursive"}}) {
        BOOST_TEST_CONTEXT(command.front() << " " << command.back()) {
          const std::string before = unit.has("live/vpc/.terraform.lock.hcl") ? unit.unit_lock() : "";
          const Ran ran = unit.modlock(command);
          // Without an entry there is nothing that a search finds.
          const bool is_found = command.back() != "--recursive" || !before.empty();
          BOOST_TEST((ran.exit_code == row.exit_code || !is_found), ran.exit_code << ran.out << ran.err);
          if (command.front() == "verify" && is_found) {
            BOOST_TEST((ran.out + ran.err).find(row.text) != std::string::npos, ran.out << ran.err);
          }
          BOOST_TEST((unit.has("live/vpc/.terraform.lock.hcl") ? unit.unit_lock() : "") == before);
        }
      }
      // In CI, doubt about the hooks is an error.
      unit.environment["CI"] = "true";
      const bool is_doubted = std::string(row.text).find("perhaps") != std::string::npos;
      BOOST_TEST(unit.modlock({"verify", "live/vpc"}).exit_code == (is_doubted ? 3 : row.exit_code));
    }
  }
}

// The modules that a copy of the repository calls are locked, and the source is not.
BOOST_FIXTURE_TEST_CASE(units_of_local_modules_are_checked, CheckedUnit) {
  write("catalog/main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  add_unit("live/local");
  write("live/local/.tofu-modlock.hcl", "");
  BOOST_REQUIRE(terragrunt({"init"}, "", "live/local").exit_code == 0);
  write("plain/main.tf", "output \"x\" {\n  value = 1\n}\n");
  write("live/plain/terragrunt.hcl", "terraform {\n  source = \"../../plain\"\n}\n");
  const Ran fine = modlock({"verify", "--recursive"});
  BOOST_TEST(fine.exit_code == 0, fine.out << fine.err);
  BOOST_TEST(fine.out.find("live/local:\nverified  module.vpc") != std::string::npos, fine.out);
  BOOST_TEST(fine.out.find("live/plain:\n0 verified") != std::string::npos, fine.out);
  write_text(working_directory("live/local") / ".terraform/modules/vpc/main.tf", "# foreign\n");
  // Terragrunt has the same directory for all of them.
  for (const std::string source : {"${get_repo_root()}/catalog", "../../catalog", "../../catalog/", "../../catalog?x=y",
                                   "file://${get_repo_root()}/catalog"}) {
    BOOST_TEST_CONTEXT(source) {
      add_unit("live/local", source);
      write("live/local/.tofu-modlock.hcl", "");
      const Ran changed = modlock({"verify", "live/local"});
      BOOST_TEST(changed.exit_code == 4, changed.out << changed.err);
      BOOST_TEST(changed.err.find("main.tf was changed\n  hint: run: terragrunt init") != std::string::npos,
                 changed.err);
    }
  }
}

// A unit with configuration and without a source, locked by Terragrunt, which runs a copy of it.
struct CopiedUnit : TerragruntScene {
  // `name` is that of a real Terragrunt; empty: the stand-in.
  explicit CopiedUnit(const std::string& name) {
    fs::remove_all(root() / "live/vpc");
    fs::rename(root() / "catalog", root() / "live/vpc");
    write("live/vpc/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    write("live/vpc/terragrunt.hcl",
          "# source = \".\"\ninclude \"modlock\" {\n  path = \"${get_repo_root()}/modlock.hcl\"\n}\n");
    write(".gitignore", ".terragrunt-cache\n.terraform\n");
    fs::remove_all(root() / ".git");
    program({"git", "init", "--quiet"});
    if (!name.empty()) {
      use_terragrunt("tofu");
      fs::create_symlink(*find_program(name), path("bin/terragrunt"));
    }
    init();
  }
  void init(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), "init");
    const Ran ran = terragrunt(std::move(arguments));
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.out << ran.err);
  }
  void run(const std::vector<std::string>& command) const {
    const Ran ran = modlock(command);
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.out << ran.err);
  }
  void remove_copy() const { fs::remove_all(root() / "live/vpc/.terragrunt-cache"); }
  void tamper(const fs::path& directory) const {
    write_text(directory / ".terraform/modules/vpc/main.tf", "# foreign\n");
  }
};

void check_copies(const std::string& terragrunt) {
  struct Row {
    const char* name;
    std::function<void(CopiedUnit&)> change;
    int exit_code;     // of verify and status
    const char* text;  // of verify
    int of_lock;       // what is installed in a root module is not read
    int of_ci;         // which installs in the unit itself
  };
  const auto install = [](CopiedUnit& unit) { unit.run({"install", "live/vpc"}); };
  const auto add_call = [](CopiedUnit& unit) {
    unit.write("live/vpc/more.tf", module_call("more", "git::" + unit.vpc.url() + "?ref=v1.0.0"));
  };
  const Row rows[] = {
      {"a copy", [](CopiedUnit&) {}, 0, "verified  module.vpc  1.0.0\n1 verified\n", 0, 0},
      {"both installations", install, 0, "1 verified\n", 0, 0},
      {"in place, as Terragrunt 0.x",
       [&](CopiedUnit& unit) {
         install(unit);
         unit.remove_copy();
       },
       0, "1 verified\n", 0, 0},
      {"in place, with the leftovers of another directory",
       [&](CopiedUnit& unit) {
         install(unit);
         const fs::path copy = unit.working_directory();
         fs::rename(copy, copy.parent_path() / "other");
         unit.tamper(copy.parent_path() / "other");
       },
       0, "1 verified\n", 0, 0},
      {"nothing is installed", [](CopiedUnit& unit) { unit.remove_copy(); }, 3,
       "1 missing\nNext: run tofu-modlock install live/vpc.\n", 0, 0},
      {"no unit",
       [&](CopiedUnit& unit) {
         install(unit);
         unit.tamper(unit.working_directory());
         fs::remove(unit.root() / "live/vpc/terragrunt.hcl");
       },
       0, "1 verified\n", 0, 0},
      {"a changed copy", [](CopiedUnit& unit) { unit.tamper(unit.working_directory()); }, 4,
       "    main.tf was changed\n  hint: run: terragrunt init\n", 4, 4},
      {"a changed copy and a correct installation",
       [&](CopiedUnit& unit) {
         install(unit);
         unit.tamper(unit.working_directory());
       },
       4, "    main.tf was changed\n  hint: run: terragrunt init\n", 4, 4},
      // ci restores what is installed, and reports that.
      {"a correct copy and a changed installation",
       [&](CopiedUnit& unit) {
         install(unit);
         unit.tamper(unit.root() / "live/vpc");
       },
       4, "To restore the locked package, run:\n    tofu-modlock install --chdir live/vpc\n", 0, 4},
      {"a copy that is older than the lock file",
       [](CopiedUnit& unit) {
         unit.release(unit.vpc, "1.1.0");
         unit.run({"upgrade", "live/vpc"});
       },
       3, "module.vpc  stale: 1.0.0 is installed, 1.1.0 is locked\n  hint: run: terragrunt init\n", 3, 3},
      {"an installation that is older than the lock file",
       [&](CopiedUnit& unit) {
         install(unit);
         unit.release(unit.vpc, "1.1.0");
         unit.init({"-upgrade"});
       },
       3, "Next: run tofu-modlock install live/vpc.\n", 0, 0},
      {"a copy in which init did not run",
       [](CopiedUnit& unit) { fs::remove_all(unit.working_directory() / ".terraform"); }, 3,
       "module.vpc  missing: it is locked, but not installed\n  hint: run: terragrunt init\n", 3, 3},
      {"a new call", add_call, 3, "not-locked  module.more", 3, 3},
      {"a new call that is locked",
       [&](CopiedUnit& unit) {
         add_call(unit);
         unit.run({"lock", "live/vpc"});
       },
       3, "module.more", 3, 3},
      {"generated configuration", [](CopiedUnit& unit) { fs::remove(unit.root() / "live/vpc/main.tf"); }, 0,
       "1 verified\n", 0, 0},
      {"generated configuration, a changed copy",
       [](CopiedUnit& unit) {
         fs::remove(unit.root() / "live/vpc/main.tf");
         unit.tamper(unit.working_directory());
       },
       4, "    main.tf was changed\n  hint: run: terragrunt init\n", 4, 4},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name << ", " << terragrunt) {
      CopiedUnit unit(terragrunt);
      row.change(unit);
      const std::string before = unit.unit_lock();
      const auto check = [&](const std::vector<std::string>& command, int exit_code) {
        const Ran ran = unit.modlock(command);
        BOOST_TEST(ran.exit_code == exit_code, command.front() << " " << command.back() << ": " << ran.out << ran.err);
        return ran.out + ran.err;
      };
      const std::string text = check({"verify", "live/vpc"}, row.exit_code);
      BOOST_TEST(text.find(row.text) != std::string::npos, text);
      check({"verify", "--recursive"}, row.exit_code);
      check({"status", "--offline", "live/vpc"}, row.exit_code);
      check({"lock", "--frozen", "live/vpc"}, row.of_lock);
      check({"lock", "--frozen", "--recursive"}, row.of_lock);
      check({"ci", "live/vpc"}, row.of_ci);
      BOOST_TEST(unit.unit_lock() == before);
    }
  }
}

BOOST_AUTO_TEST_CASE(copies_of_units_without_a_source_are_checked) {
  check_copies("");
}

BOOST_AUTO_TEST_CASE(copies_that_terragrunt_makes_are_checked, *needs("terragrunt, terragrunt-new, tofu")) {
  check_copies("terragrunt");
  check_copies("terragrunt-new");
}

BOOST_FIXTURE_TEST_CASE(a_unit_without_module_calls_is_checked, CheckedUnit) {
  stacks.commit({{"net/main.tf", "# no calls\n"}});
  stacks.tag("v1.0.0");
  fs::remove_all(root() / "live");
  set_source("\"git::" + stacks.url() + "//net?ref=v1.0.0\"");
  BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
  const Ran fine = modlock({"verify", "--recursive"});
  BOOST_TEST(fine.exit_code == 0, fine.out << fine.err);
  BOOST_TEST(fine.out.starts_with("verified  terragrunt:source  v1.0.0"), fine.out);
  write_text(working_directory() / "main.tf", "# foreign\n");
  const Ran changed = modlock({"ci", "--recursive"});
  BOOST_TEST(changed.exit_code == 4, changed.out << changed.err);
}

BOOST_FIXTURE_TEST_CASE(newer_versions_of_units_are_shown, CheckedUnit) {
  const Ran outdated = modlock({"outdated", "--chdir", "live/vpc"});
  BOOST_TEST(outdated.exit_code == 0, outdated.err);
  BOOST_TEST(outdated.out.starts_with("terragrunt:source  v1.0.0 ("), outdated.out);
  BOOST_TEST(
      outdated.out.ends_with("(?ref=v1.0.0)  -> 2.0.0 (v2.0.0, major)\n"
                             "module.vpc         1.0.0                  (~> 1.0)       newest\n"
                             "To select one, change the source in live/vpc, then run there: terragrunt init -upgrade "
                             "--source-update\n"),
      outdated.out);
  const Ran status = modlock({"status", "live/vpc"});
  BOOST_TEST(status.exit_code == 0, status.err);
  BOOST_TEST(status.out.find("terragrunt:source  v1.0.0") != std::string::npos, status.out);
  BOOST_TEST(status.out.find("2.0.0") != std::string::npos, status.out);
  BOOST_TEST(modlock({"outdated", "--chdir", "live/vpc", "terragrunt:source"}).out.find("module.vpc") ==
             std::string::npos);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock", "live/vpc"},
                                                  {"upgrade", "live/vpc"},
                                                  {"update", "--chdir", "live/vpc", "vpc=1.0.0"},
                                                  {"diff", "--chdir", "live/vpc"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 8, command.front() << ran.out << ran.err);
    BOOST_TEST(ran.err.find("live/vpc is a unit, which Terragrunt locks [CONFIG_PARSE]\n"
                            "  hint: change the source in its files, then run in live/vpc: terragrunt init -upgrade "
                            "--source-update\n") != std::string::npos,
               ran.err);
  }
}

// The names of Terragrunt's directories, and what it writes there.
BOOST_AUTO_TEST_CASE(downloads_of_terragrunt_are_checked, *needs("terragrunt, terragrunt-new, tofu")) {
  for (const char* name : {"terragrunt", "terragrunt-new"}) {
    BOOST_TEST_CONTEXT(name) {
      CheckedUnit unit(name);
      const auto check = [&](int exit_code, const char* text) {
        const Ran ran = unit.modlock({"verify", "--recursive"});
        BOOST_TEST(ran.exit_code == exit_code, ran.out << ran.err);
        BOOST_TEST((ran.out + ran.err).find(text) != std::string::npos, ran.out << ran.err);
      };
      check(0, "2 verified");
      unit.set_source("\"git::${get_env(\"X\", \"" + unit.stacks.url() + "\")}//net?ref=v1.0.0\"");
      check(0, "2 verified");
      const std::string hooks = unit.read("modlock.hcl");
      unit.write("modlock.hcl", "");
      unit.stacks.commit({{"net/main.tf", "# foreign\n"}});
      unit.stacks.tag("v1.0.0");
      unit.remove_cache();
      BOOST_TEST(unit.terragrunt({"init"}).exit_code == 0);
      unit.write("modlock.hcl", hooks);
      check(4, "net/main.tf was changed");
    }
  }
}

BOOST_FIXTURE_TEST_CASE(copies_of_units_are_not_written, CheckedUnit) {
  release(vpc, "1.1.0");
  const std::string copy = working_directory().string();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"lock", copy}, {"upgrade", copy}, {"update", "--chdir", copy, "vpc=1.1.0"}}) {
    const std::string before = read_text(working_directory() / ".terraform.lock.hcl");
    const Ran ran = modlock(command);
    BOOST_TEST(read_text(working_directory() / ".terraform.lock.hcl") == before);
    BOOST_TEST((ran.exit_code == 2 || command.front() == "lock"), ran.exit_code << ran.out << ran.err);
    BOOST_TEST((ran.exit_code == 0 ||
                ran.err.find("run in <dir>/root/live/vpc: terragrunt init -upgrade") != std::string::npos),
               ran.err);
  }
}

}  // namespace
}  // namespace modlock::test
