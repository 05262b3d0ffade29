// Advice that works as pasted: a command of each hint, run in the situation that prints the hint, leads out of it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A root module that calls "vpc", which has the tags v1.0.0 and v1.1.0.
struct Hints : Scene {
  Hints() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    environment["PATH"] = fs::path(binary).parent_path().string() + ":" + environment["PATH"];
  }
  Ran shell(const std::string& command) const { return program({"sh", "-c", command}); }
  void run(const std::string& command) const {
    const Ran ran = shell(command);
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, command << ": " << ran.out << ran.err);
  }
  std::string call(const std::string& query = {}) const { return module_call("vpc", "git::" + vpc.url() + query); }
  // The call names a tag and is locked and installed.
  void pin() const {
    write("main.tf", call("?ref=v1.0.0"));
    run("tofu-modlock lock --install");
  }
  // A constraint of the settings selects the version.
  void constrain(const std::string& constraint) const {
    write("main.tf", call());
    write(".tofu-modlock.hcl", module_rule("vpc", constraint));
    run("tofu-modlock lock --install");
  }
  void deny(const std::string& version) const {
    write_text(path("home/.config/tofu-modlock/config.hcl"),
               "deny \"*/repositories/vpc\" {\n  versions = \"= " + version + "\"\n}\n");
  }
  void damage(const std::string& name) const { write(name, read(name) + "# changed\n"); }
  void replace(const std::string& name, const std::string& what, const std::string& with) const {
    std::string text = read(name);
    text.replace(text.find(what), what.size(), with);
    write(name, text);
  }

  GitRepository& vpc;
};

struct Row {
  const char* name;
  std::function<void(Hints&)> arrange;
  const char* command;  // prints the hint
  int exit_code;
  // At most two; each is part of what was printed before. A step that is not a command is an edit of a file.
  std::vector<std::string> steps;
  std::function<void(Hints&)> edit = {};  // what the last step says, if it is not a command
};

// Each is what a user does: the situation, the command, the advice as pasted, and the command again, which succeeds.
const std::vector<Row> kRows = {
    {"the denied release of a tag",
     [](Hints& scene) {
       scene.pin();
       scene.deny("1.0.0");
     },
     "tofu-modlock install",
     4,
     {"tofu-modlock update module.vpc", "tofu-modlock install"}},
    {"the denied release of a version",
     [](Hints& scene) {
       scene.constrain("~> 1.0");
       scene.deny("1.1.0");
     },
     "tofu-modlock install",
     4,
     {"tofu-modlock upgrade --target module.vpc", "tofu-modlock install"}},
    {"a changed module",
     [](Hints& scene) {
       scene.pin();
       scene.damage(".terraform/modules/vpc/main.tf");
     },
     "tofu-modlock verify",
     4,
     {"tofu-modlock install"}},
    {"a changed module with a tag, and a newer tag",
     [](Hints& scene) {
       scene.pin();
       scene.damage(".terraform/modules/vpc/main.tf");
     },
     "tofu-modlock verify",
     4,
     {"tofu-modlock update module.vpc", "tofu-modlock install"}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hints)

BOOST_AUTO_TEST_CASE(advice_works_as_pasted) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      Hints scene;
      row.arrange(scene);
      const Ran first = scene.shell(row.command);
      std::string printed = first.out + first.err;
      BOOST_TEST(first.exit_code == row.exit_code, printed);
      BOOST_TEST((!row.steps.empty() && row.steps.size() <= 2));
      for (const std::string& step : row.steps) {
        BOOST_TEST(printed.find(step) != std::string::npos, "\"" << step << "\" is not in: " << printed);
        if (row.edit && &step == &row.steps.back()) {
          row.edit(scene);
          continue;
        }
        const Ran ran = scene.shell(step);
        BOOST_TEST(ran.exit_code == 0, step << ": " << ran.out << ran.err);
        printed += ran.out + ran.err;
      }
      const Ran again = scene.shell(row.command);
      BOOST_TEST(again.exit_code == 0, row.command << " again: " << again.out << again.err);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
