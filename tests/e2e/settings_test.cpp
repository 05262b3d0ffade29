// What settings files above a root, and a change of settings, do to it.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInline = ".terraform.lock.hcl";
constexpr const char* kSidecar = ".terraform.modules.lock.hcl";

struct Settled : Scene {
  Settled() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  }
  void place(const std::string& name) const {
    write(".tofu-modlock.hcl", "module_lock_file = \"" + name + "\"\n" + module_rule("vpc", "~> 1.0"));
  }
  void check(std::vector<std::string> arguments) const {
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.exit_code == 0, arguments.front() << ran.err);
    BOOST_TEST(ran.err == "", arguments.front());
  }
  // Every entry matches, but `lock` would write these files.
  void check_unwritten(const std::string& files) const {
    const Json::Value error = json({"lock", "--frozen"}, 3)["error"];
    BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
    BOOST_TEST(error["message"].asString() ==
               "every entry matches the configuration, but lock would write files: " + files);
  }
  GitRepository& vpc;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(settings_of_a_root, Settled)

BOOST_AUTO_TEST_CASE(a_module_block_above_the_root_is_for_the_roots_that_make_the_call) {
  program({"git", "init", "--quiet", ".."});
  write_text(path(".tofu-modlock.hcl"), module_rule("vpc", "~> 1.0") + module_rule("dns", "~> 3.0"));
  fs::remove(root() / ".tofu-modlock.hcl");
  release(vpc, "2.0.0");
  const Json::Value planned = json({"lock"});
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.0.0>");
  BOOST_REQUIRE(planned["diagnostics"].size() == 1U);
  BOOST_TEST(planned["diagnostics"][0]["severity"].asString() == "info");
  BOOST_TEST(planned["diagnostics"][0]["message"].asString() ==
             "the block module \"dns\" matches no module call and is ignored");
  BOOST_TEST(planned["diagnostics"][0]["location"]["path"].asString() == "../.tofu-modlock.hcl");
  for (const char* command : {"lock", "install", "verify"}) {
    const Ran ran = modlock({command});
    BOOST_TEST(ran.exit_code == 0, command);
    BOOST_TEST(ran.err == "", command);
  }
  write(".tofu-modlock.hcl", module_rule("dns", "~> 3.0"));
  const Ran own = modlock({"lock"});
  BOOST_TEST(own.exit_code == 8);
  BOOST_TEST(own.err.find("the block module \"dns\" matches no module call [CONFIG_PARSE]") != std::string::npos,
             own.err);
}

BOOST_AUTO_TEST_CASE(a_switch_between_sidecar_and_inline_leaves_one_file) {
  check({"lock"});
  const std::string locked = read(kInline);
  release(vpc, "1.1.0");
  place("sidecar");
  check_unwritten("create .terraform.modules.lock.hcl, delete .terraform.lock.hcl");
  check({"install"});
  BOOST_TEST(modlock({"lock"}).out ==
             "\ntofu-modlock has created the lock file .terraform.modules.lock.hcl to record the selected module "
             "versions.\nInclude this file in version control, so that everyone gets the same modules.\n"
             "tofu-modlock has deleted .terraform.lock.hcl, which no longer contains used blocks.\n");
  BOOST_TEST(!has(kInline), "it had module blocks and nothing else");
  BOOST_TEST(read(kSidecar) == locked);
  check({"verify"});
  place("inline");
  check({"verify"});
  check_unwritten("create .terraform.lock.hcl, delete .terraform.modules.lock.hcl");
  check({"install"});
  BOOST_TEST(modlock({"lock", "--dry-run"}).out.find("--- .terraform.modules.lock.hcl\n") != std::string::npos);
  BOOST_TEST(has(kSidecar));
  check({"lock"});
  BOOST_TEST(!has(kSidecar));
  BOOST_TEST(read(kInline) == locked);
  check({"lock", "--frozen"});
  check({"verify"});
}

BOOST_AUTO_TEST_CASE(a_switch_keeps_what_a_client_wrote) {
  check({"lock"});
  const std::string provider =
      "\nprovider \"registry.opentofu.org/hashicorp/null\" {\n  version = \"3.2.1\"\n  hashes = [\n"
      "    \"h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w=\",\n  ]\n}\n";
  const std::string locked = read(kInline);
  write(kInline, locked + provider);
  place("sidecar");
  check({"lock", "--include", "modules"});
  BOOST_TEST(read(kSidecar) == locked);
  BOOST_TEST(read(kInline).find("module ") == std::string::npos);
  BOOST_TEST(read(kInline).ends_with(provider));
  place("inline");
  check({"lock", "--include", "modules"});
  BOOST_TEST(!has(kSidecar));
  BOOST_TEST(read(kInline) == locked + provider);
}

BOOST_AUTO_TEST_CASE(a_sidecar_beside_blocks_in_the_lock_file_is_deleted_and_not_read) {
  check({"lock"});
  const std::string locked = read(kInline);
  write(kSidecar, "module \"vpc\" {\n  source = \"git::https://example.com/old.git\"\n}\n");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
             "\ntofu-modlock has deleted .terraform.modules.lock.hcl, which no longer contains used blocks.\n");
  BOOST_TEST(!has(kSidecar));
  BOOST_TEST(read(kInline) == locked);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
