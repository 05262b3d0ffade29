// Advice of the hooks works as pasted: a command of each hint, run in the unit that prints it, leads out.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct HintScene : TerragruntScene {
  // The stand-in, under the name that hints have.
  void name_stand_in() {
    fs::remove_all(root() / ".git");
    program({"git", "init", "--quiet"});
    write_text(path("bin/terragrunt"), "#!/bin/sh\n[ \"$1\" != run ] || shift 2\ncd '" + root().string() +
                                           "'\nexec " MODLOCK_HOSTS "/terragrunt_stand_in '" + client +
                                           "' live/vpc \"$@\"\n");
    fs::permissions(path("bin/terragrunt"), fs::perms::owner_all);
  }
  Ran in_unit(const std::string& command) const { return program({"sh", "-c", "cd live/vpc && " + command}); }
  void run(const std::string& command) const {
    const Ran ran = in_unit(command);
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, command << ": " << ran.out << ran.err);
  }
  // The module of the unit names a tag, so nothing but its configuration selects the version.
  void pin(const std::string& version) const {
    write("live/vpc/.tofu-modlock.hcl", "");
    write("catalog/main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v" + version));
  }
  void deny(const std::string& version) const {
    write_text(path("home/.config/tofu-modlock/config.hcl"),
               "deny \"*/repositories/vpc\" {\n  versions = \"= " + version + "\"\n}\n");
  }
  void move_tag() const {
    vpc.commit({{"main.tf", "output \"version\" {\n  value = \"moved\"\n}\n"}});
    vpc.tag("v1.0.0");
  }
};

struct Row {
  const char* name;
  std::function<void(HintScene&)> arrange;    // after the first init
  const char* command;                        // prints the hint
  const char* error;                          // a code, or a verdict
  std::vector<std::string> steps;             // at most two, each printed before
  std::function<void(HintScene&)> edit = {};  // what the first step says, if it is not a command
};

const std::vector<Row> kRows = {
    {"a moved tag",
     [](HintScene& scene) { scene.move_tag(); },
     "terragrunt init -upgrade",
     "[HASH_MISMATCH]",
     {"TOFU_MODLOCK_TARGET=module.vpc terragrunt init"}},
    {"a moved tag that the source names",
     [](HintScene& scene) {
       scene.pin("1.0.0");
       scene.run("terragrunt init");
       scene.move_tag();
     },
     "terragrunt init -upgrade",
     "[HASH_MISMATCH]",
     {"TOFU_MODLOCK_TARGET=module.vpc terragrunt init"}},
    {"the denied release of a version",
     [](HintScene& scene) {
       scene.release(scene.vpc, "1.0.1");
       scene.deny("1.0.0");
     },
     "terragrunt init",
     "[RELEASE_DENIED]",
     {"TOFU_MODLOCK_TARGET=module.vpc terragrunt init"}},
    {"the denied release of a tag",
     [](HintScene& scene) {
       scene.release(scene.vpc, "1.0.1");
       scene.pin("1.0.0");
       scene.run("terragrunt init");
       scene.deny("1.0.0");
     },
     "terragrunt init",
     "[RELEASE_DENIED]",
     {"change its source in the configuration", "terragrunt init"},
     [](HintScene& scene) { scene.pin("1.0.1"); }},
    {"a changed module",
     [](HintScene& scene) { write_text(scene.working_directory() / ".terraform/modules/vpc/main.tf", "# mine\n"); },
     "TG_NO_AUTO_INIT=true terragrunt plan",
     "tampered",
     {"terragrunt init"},
     [](HintScene& scene) { scene.run("! terragrunt init"); }},  // restores it, and reports the change once
    {"a new call in CI",
     [](HintScene& scene) {
       scene.write("catalog/other.tf", module_call("other", "git::" + scene.vpc.url() + "?ref=v1.0.0"));
     },
     "CI=true terragrunt init",
     "[FROZEN]",
     {"terragrunt init"}},
};

void check_rows(const std::function<void(HintScene&)>& use_terragrunt) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      HintScene scene;
      use_terragrunt(scene);
      scene.run("terragrunt init");
      row.arrange(scene);
      const std::string before = scene.unit_lock();
      const Ran first = scene.in_unit(row.command);
      std::string printed = first.out + first.err;
      BOOST_TEST(first.exit_code != 0, printed);
      BOOST_TEST(printed.find(row.error) != std::string::npos, printed);
      BOOST_TEST(scene.unit_lock() == before);
      BOOST_TEST(row.steps.size() <= 2U);
      for (const std::string& step : row.steps) {
        BOOST_TEST(printed.find(step) != std::string::npos, "\"" << step << "\" is not in: " << printed);
        if (row.edit && &step == &row.steps.front()) {
          row.edit(scene);
        } else {
          scene.run(step);
        }
      }
      for (const char* after : {"terragrunt init", "terragrunt plan", "CI=true terragrunt init"}) {
        scene.run(after);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(hints_of_hooks_work_as_pasted) {
  check_rows([](HintScene& scene) { scene.name_stand_in(); });
}

BOOST_AUTO_TEST_CASE(hints_of_hooks_work_as_pasted_with_terragrunt, *needs("terragrunt, tofu or terraform")) {
  check_rows([](HintScene& scene) { scene.use_terragrunt(clients().front()); });
}

BOOST_FIXTURE_TEST_CASE(a_target_is_locked_again_and_nothing_else, HintScene) {
  name_stand_in();
  write("catalog/other.tf", module_call("other", "git::" + vpc.url() + "?ref=v1.0.0"));
  run("terragrunt init");
  move_tag();
  environment["TOFU_MODLOCK_TARGET"] = "module.vpc";
  const std::string before = unit_lock();
  run("CI=true terragrunt init");
  BOOST_TEST(unit_lock() == before);
  run("terragrunt init");
  BOOST_TEST(occurrences(shown(unit_lock()), "\"git:<1.0.0>\"") == 1U, shown(unit_lock()));
  run("terragrunt plan");
}

}  // namespace
}  // namespace modlock::test
