// The hooks with real clients, below the stand-in and below Terragrunt itself.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// What somebody does with a unit.
void live_a_day(TerragruntScene& scene) {
  Ran ran = scene.terragrunt({"init", "-no-color", "-input=false"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(ran.out.find("Downloading") == std::string::npos, ran.out);
  BOOST_TEST(scene.shown(scene.unit_lock()).find("\"git:<1.0.0>\"") != std::string::npos, scene.unit_lock());

  scene.release(scene.vpc, "1.1.0");
  fs::rename(scene.vpc.path(), scene.path("moved away"));
  fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
  scene.environment["CI"] = "true";
  ran = scene.terragrunt({"apply", "-no-color", "-auto-approve"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(ran.out.find("version = \"1.0.0\"") != std::string::npos, ran.out);

  fs::rename(scene.path("moved away"), scene.vpc.path());
  scene.environment["CI"] = "";
  ran = scene.terragrunt({"init", "-no-color", "-upgrade=true"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(scene.shown(scene.unit_lock()).find("\"git:<1.1.0>\"") != std::string::npos, scene.unit_lock());
  ran = scene.terragrunt({"plan", "-no-color"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
}

BOOST_AUTO_TEST_CASE(a_day_with_the_hooks, *needs("tofu or terraform")) {
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      TerragruntScene scene;
      scene.client = find_program(name)->string();
      live_a_day(scene);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_day_with_terragrunt, *needs("terragrunt, tofu or terraform")) {
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      TerragruntScene scene;
      scene.use_terragrunt(name);
      live_a_day(scene);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_day_with_links_below_terragrunt, *needs("terragrunt, tofu or terraform")) {
  TerragruntScene scene;
  scene.use_terragrunt(clients().front());
  write_text(scene.path("home/.config/tofu-modlock/config.hcl"), "install = \"link\"\n");
  live_a_day(scene);
  BOOST_TEST(fs::is_symlink(scene.working_directory() / ".terraform/modules/vpc"));
}

}  // namespace
}  // namespace modlock::test
