// SIGKILL around every rename, link and removal of a run: what is there is old or new, never half of either, and
// nothing unfinished stays in the root.

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr int kKilled = 128 + 9;

struct Killed : SurvivalScene {
  // Runs `arguments` from the saved state, each time killed at another of the calls, and then once more; the last run
  // is not killed. Returns the calls that were met.
  std::vector<std::string> kill_everywhere(const std::vector<std::string>& arguments, Fault fault, const Files& locks) {
    const Files root_after = files_of_root();
    const Files store_after = files_of_store();
    std::vector<std::string> met;
    for (fault.at = 1; fault.at < kMostCalls; ++fault.at) {
      restore();
      const Faulted killed = modlock_with(fault, arguments);
      if (killed.met.empty()) {
        BOOST_TEST(killed.exit_code == 0, killed.err);
        return met;
      }
      met.push_back(killed.met);
      BOOST_TEST_CONTEXT(fault.kill << " " << killed.met) {
        BOOST_TEST(killed.exit_code == kKilled);
        check_truth(locks);
        const Ran again = modlock(arguments);
        BOOST_TEST(again.exit_code == 0, again.err);
        BOOST_TEST(differences(files_of_root(), root_after) == "");
        BOOST_TEST(differences(files_of_store(), store_after) == "");
        BOOST_TEST((!fs::exists(cache() / "v2/tmp") || fs::is_empty(cache() / "v2/tmp")));
      }
    }
    BOOST_ERROR("there is no end of the calls");
    return met;
  }

  static void check_met(const std::vector<std::string>& met, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      const bool was_met = std::any_of(met.begin(), met.end(),
                                       [&](const std::string& call) { return call.find(part) != std::string::npos; });
      BOOST_TEST(was_met, "nothing was killed at " << part);
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(killed, Killed, *boost::unit_test::precondition(may_trace))

BOOST_AUTO_TEST_CASE(an_upgrade_with_installation) {
  publish("1.0.0");
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  const std::string before = lock();
  publish("1.1.0");
  save();
  const std::vector<std::string> command = {"upgrade", "--install"};
  BOOST_REQUIRE(modlock(command).exit_code == 0);
  const Files locks = {{"1.0.0", before}, {"1.1.0", lock()}};
  for (const char* when : {"before", "after"}) {
    restore();
    modlock(command);
    const auto met = kill_everywhere(command, {.calls = "rename,link,unlink", .kill = when}, locks);
    check_met(met, {" <dir>/root/.terraform.lock.hcl", " <dir>/root/.terraform/tofu-modlock/lock.hcl",
                    " <dir>/root/.terraform/modules/modules.json", "/vpc.old", " <dir>/root/.terraform/modules/vpc",
                    " <dir>/cache/v2/packages/", " <dir>/cache/v2/identities/", " <dir>/cache/v2/responses/"});
  }
}

BOOST_AUTO_TEST_CASE(an_installation_of_links) {
  publish("1.0.0");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  save();
  const std::vector<std::string> command = {"install", "--link"};
  BOOST_REQUIRE(modlock(command).exit_code == 0);
  BOOST_REQUIRE(fs::is_symlink(root() / ".terraform/modules/vpc"));
  const Files locks = {{"1.0.0", lock()}};
  for (const char* when : {"before", "after"}) {
    restore();
    modlock(command);
    const auto met = kill_everywhere(command, {.calls = "rename,link,unlink,mode", .kill = when}, locks);
    check_met(met, {" <dir>/root/.terraform/modules/modules.json", " <dir>/root/.terraform/modules/vpc",
                    " <dir>/cache/v2/links/"});
    // Packages are sealed at the same time, so among all calls it is chance whether a seal is met.
    const Fault seal{.calls = "rename", .below = cache() / "v2/packages", .kill = when};
    check_met(kill_everywhere(command, seal, locks), {"/sealed"});
  }
}

BOOST_AUTO_TEST_CASE(git_that_brings_the_first_package) {
  GitRepository& network = repository("network.git");
  release(network, "1.0.0");
  write("main.tf", module_call("network", "git::" + network.url() + "?ref=v1.0.0"));
  call_only({"network"});
  save();
  const std::vector<std::string> command = {"lock", "--install"};
  BOOST_REQUIRE(modlock(command).exit_code == 0);
  const auto met = kill_everywhere(command, {.calls = "rename,link,unlink", .below = cache(), .kill = "before"},
                                   {{"", ""}, {"1.0.0", lock()}});
  check_met(met, {"/v2/git/", "/objects/", "/refs/", "/v2/packages/"});
}

// The output is there as a whole, or not at all.
BOOST_AUTO_TEST_CASE(a_bundle_that_is_created) {
  publish("1.0.0");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  save();
  for (const char* name : {"modules.tar", "modules"}) {
    const fs::path output = path("out") / name;
    const std::vector<std::string> create = {"bundle", "create", "--output", output.string()};
    const std::vector<std::string> verify = {"bundle", "verify", output.string()};
    std::size_t met = 0;
    for (const char* when : {"before", "after"}) {
      for (Fault fault{.calls = "rename,link,unlink", .kill = when}; fault.at < kMostCalls; ++fault.at) {
        restore();
        fs::remove_all(path("out"));
        fs::create_directories(path("out"));
        const Faulted killed = modlock_with(fault, create);
        if (killed.met.empty()) {
          BOOST_TEST(killed.exit_code == 0, killed.err);
          break;
        }
        ++met;
        BOOST_TEST_CONTEXT(fault.kill << " " << killed.met) {
          BOOST_TEST(killed.exit_code == kKilled);
          const bool is_written = fs::exists(output);
          BOOST_TEST((is_written || modlock(create).exit_code == 0));
          BOOST_TEST(modlock(verify).exit_code == 0);
        }
      }
    }
    BOOST_TEST(met > 4U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
