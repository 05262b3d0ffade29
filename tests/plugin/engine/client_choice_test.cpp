// Which client a root module is checked for, and what its checkout at another revision declares.

#include "plugin/engine/root_request.h"

#include "backends/base/process.h"
#include "tests/plugin/engine/engine_fixture.h"
#include "tests/support/run.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

struct GitProgram {
  fs::path git = *find_program("git");  // before the fixture changes PATH
};

struct Repository : GitProgram, EngineFixture {
  Repository() {
    fs::create_directory(directory / "no-programs");
    fs::create_symlink(GitProgram::git, directory / "no-programs/git");
    git_in_root({"init", "--quiet", "--template=", "--initial-branch=main"});
  }
  void git_in_root(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=n", "-c", "user.email=e"});
    test::run(std::move(arguments), directory / "root",
              {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CONFIG_NOSYSTEM", "1"}});
  }
  void commit() const {
    git_in_root({"add", "--all"});
    git_in_root({"commit", "--quiet", "--allow-empty", "--message=m"});
  }
  // "implementation, first line of the lock", or the error.
  std::string base(const std::string& revision, const std::string& below = "") {
    options.base = revision;
    open();
    auto params = of_root<messages::LockPlanParams>();
    params.root.root += below;
    const auto root = open_root(params.root, *engine);
    BOOST_REQUIRE(root.has_value());
    const auto state = read_base(*root, engine->options(), Context{});
    if (!state) {
      return outcome(state);
    }
    return !*state ? "no base"
                   : fmt::format("{}, {}", (*state)->settings.implementation.value_or("none"),
                                 (*state)->lock_text.value_or("no lock"));
  }
};

BOOST_FIXTURE_TEST_SUITE(client_choice, Repository)

BOOST_AUTO_TEST_CASE(a_checkout_at_its_base) {
  BOOST_TEST(base("") == "no base");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  write("live/main.tf", "");
  write("live/.terraform.lock.hcl", "# old");
  commit();
  write(".tofu-modlock.hcl", "implementation = \"terraform\"\n");
  write("live/.terraform.lock.hcl", "# new");
  commit();
  BOOST_TEST(base("main", "/live") == "terraform, # new");
  BOOST_TEST(base("main^", "/live") == "none, # old");
  BOOST_TEST(base("main") == "terraform, no lock");
  write(".tofu-modlock.hcl", "implementation = \"none\"\n");
  commit();
  write(".tofu-modlock.hcl", "");
  BOOST_TEST(base("main", "/live") == "none, # new");  // a change may repair them
  BOOST_TEST(base("v9").starts_with("INVALID_PARAMS: revision \"v9\" not found in the repository "));
}

BOOST_AUTO_TEST_SUITE_END()
