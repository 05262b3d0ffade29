// scripts/tofu-modlock-wrapper in front of the clients it stands in for.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/base/process.h"
#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
BOOST_AUTO_TEST_CASE(a_day_with_the_wrapper, *needs("tofu or terraform")) {
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      Scene scene;
      GitRepository& vpc = scene.repository("vpc.git");
      scene.release(vpc, "1.0.0");
      scene.write("main.tf",
                  module_call("vpc", "git::" + vpc.url()) + "output \"version\" {\n  value = module.vpc.version\n}\n");
      scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
      scene.environment["TOFU_MODLOCK"] = scene.binary;
      scene.environment["TOFU_MODLOCK_CLIENT"] = *find_program(client);
      scene.environment["CI"] = "";
      const auto run = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), MODLOCK_SCRIPTS "/tofu-modlock-wrapper");
        return scene.program(std::move(arguments));
      };

      Ran ran = run({"init", "-no-color", "-input=false"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(ran.out.find("Downloading") == std::string::npos, ran.out);
      BOOST_TEST((locked_commits(scene) == Commits{{"vpc", "<1.0.0>"}}));
      scene.release(vpc, "1.1.0");
      fs::rename(vpc.path(), scene.path("moved away"));

      ran = run({"apply", "-no-color", "-auto-approve", "-json"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(ran.out.starts_with("{"), ran.out);
      BOOST_TEST(run({"output", "-no-color", "-raw", "version"}).out == "1.0.0");

      fs::rename(scene.path("moved away"), vpc.path());
      ran = run({"init", "-no-color", "-upgrade"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST((locked_commits(scene) == Commits{{"vpc", "<1.1.0>"}}));
      ran = run({"plan", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(ran.out.find("\"1.0.0\" -> \"1.1.0\"") != std::string::npos, ran.out);
    }
  }
}

}  // namespace
}  // namespace modlock::test
