// The hooks with real clients, below the stand-in and below Terragrunt itself.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iostream>

#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/clients.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

boost::test_tools::assertion_result has_terragrunt(boost::unit_test::test_unit_id) {
  const bool has_all = find_program("terragrunt") && !clients().empty();
  if (!has_all) {
    std::cout << "skipped: the hooks below Terragrunt (no terragrunt with a tofu or terraform is on PATH)\n";
  }
  return has_all;
}

// What somebody does with a unit, by `run`, which starts Terragrunt with these arguments.
template <typename Run>
void live_a_day(TerragruntScene& scene, const Run& run) {
  Ran ran = run({"init", "-no-color", "-input=false"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(ran.out.find("Downloading") == std::string::npos, ran.out);
  BOOST_TEST(scene.shown(scene.unit_lock()).find("\"git:<1.0.0>\"") != std::string::npos, scene.unit_lock());

  scene.release(scene.vpc, "1.1.0");
  fs::rename(scene.vpc.path(), scene.path("moved away"));
  fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
  scene.environment["CI"] = "true";
  ran = run({"apply", "-no-color", "-auto-approve"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(ran.out.find("version = \"1.0.0\"") != std::string::npos, ran.out);

  fs::rename(scene.path("moved away"), scene.vpc.path());
  scene.environment["CI"] = "";
  ran = run({"init", "-no-color", "-upgrade"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(scene.shown(scene.unit_lock()).find("\"git:<1.1.0>\"") != std::string::npos, scene.unit_lock());
  ran = run({"plan", "-no-color"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
}

BOOST_AUTO_TEST_CASE(a_day_with_the_hooks, *boost::unit_test::precondition(has_client("the hooks with a client"))) {
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      TerragruntScene scene;
      scene.client = find_program(name)->string();
      live_a_day(scene, [&](std::vector<std::string> arguments) { return scene.terragrunt(std::move(arguments)); });
    }
  }
}

BOOST_AUTO_TEST_CASE(a_day_with_terragrunt, *boost::unit_test::precondition(has_terragrunt)) {
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      TerragruntScene scene;
      fs::remove_all(scene.root() / ".git");
      scene.program({"git", "init", "--quiet"});
      scene.environment["TG_TF_PATH"] = find_program(name)->string();
      scene.environment["TG_NON_INTERACTIVE"] = "true";
      live_a_day(scene, [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "terragrunt");
        std::string line = "cd live/vpc && exec";
        for (const std::string& argument : arguments) {
          line += " " + argument;
        }
        return scene.program({"/bin/sh", "-c", line});
      });
    }
  }
}

}  // namespace
}  // namespace modlock::test
