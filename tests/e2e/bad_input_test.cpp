// Input that is no good is met with a clear error, and nothing is lost.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct BadInput : Scene {
  BadInput() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    modlock({"lock", "--install"});
    before = lock();
    tree = read(".terraform/modules/vpc/main.tf");
  }
  // The command ends so, says all of `parts`, prints nothing on stdout and leaves what was installed.
  void check_refused(const std::vector<std::string>& command, int exit_code,
                     const std::vector<std::string>& parts) const {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == exit_code, command[0] << ": " << ran.exit_code << " " << ran.out << ran.err);
    BOOST_TEST(ran.out == "");
    for (const std::string& part : parts) {
      BOOST_TEST(ran.err.find(part) != std::string::npos, part << " is not in " << ran.err);
    }
    BOOST_TEST(read(".terraform/modules/vpc/main.tf") == tree);
  }
  void check_lock_refused(const std::string& text, const std::vector<std::string>& parts) const {
    write(".terraform.lock.hcl", text);
    age_lock();
    for (const char* command : {"lock", "upgrade", "install", "verify"}) {
      check_refused({command}, 8, parts);
      BOOST_TEST(lock() == text);
      BOOST_TEST(lock_is_aged());
    }
  }
  void check_configuration_refused(const std::string& text, int exit_code,
                                   const std::vector<std::string>& parts) const {
    write("main.tf", text);
    age_lock();
    for (const char* command : {"lock", "upgrade"}) {
      check_refused({command}, exit_code, parts);
      BOOST_TEST(lock() == before);
      BOOST_TEST(lock_is_aged());
    }
  }
  GitRepository& vpc;
  std::string before;
  std::string tree;
};

BOOST_FIXTURE_TEST_SUITE(bad_input, BadInput)

BOOST_AUTO_TEST_CASE(a_directory_in_place_of_the_lock) {
  fs::remove(root() / ".terraform.lock.hcl");
  fs::create_directories(root() / ".terraform.lock.hcl/kept");
  for (const char* command : {"lock", "upgrade", "install", "verify"}) {
    check_refused({command}, 1, {"[IO_ERROR]", ".terraform.lock.hcl"});
  }
  BOOST_TEST(has(".terraform.lock.hcl/kept"));
}

BOOST_AUTO_TEST_CASE(a_truncated_lock) {
  check_lock_refused(before.substr(0, before.find("  hashes")), {"[LOCK_PARSE]", ".terraform.lock.hcl:"});
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_not_UTF_8) {
  check_lock_refused(before + "# \xff\n", {"[LOCK_PARSE]", ".terraform.lock.hcl:15:3"});
}

BOOST_AUTO_TEST_CASE(an_unknown_attribute_in_a_module_block) {
  std::string text = before;
  text.insert(text.find("  hashes"), "  colour = \"red\"\n");
  check_lock_refused(text, {"[LOCK_PARSE]", "colour", ".terraform.lock.hcl:10:3"});
}

BOOST_AUTO_TEST_CASE(a_block_written_twice) {
  check_lock_refused(before + before.substr(before.find("\nmodule")), {"[LOCK_PARSE]", "vpc"});
}

BOOST_AUTO_TEST_CASE(a_merge_conflict_in_the_lock) {
  check_lock_refused(before + "<<<<<<< HEAD\n", {"[LOCK_PARSE]", ".terraform.lock.hcl:15:1"});
}

BOOST_AUTO_TEST_CASE(broken_configuration) {
  check_configuration_refused("module \"vpc\" {\n  source = \n}\n", 8, {"[CONFIG_PARSE]", "main.tf:2:"});
  check_configuration_refused("module \"vpc\" {\n", 8, {"[CONFIG_PARSE]", "main.tf:"});
}

BOOST_AUTO_TEST_CASE(a_source_that_is_not_static) {
  check_configuration_refused("module \"vpc\" {\n  source = \"git::${vpc_network.x.url}\"\n}\n", 8,
                              {"[CONFIG_NON_STATIC]", "main.tf:2:"});
}

BOOST_AUTO_TEST_CASE(a_source_with_a_newline) {
  check_configuration_refused(module_call("vpc", "git::https://example.test/a\\nb.git"), 8, {"[SOURCE_", "main.tf:2:"});
}

BOOST_AUTO_TEST_CASE(sources_that_would_run_something) {
  for (const char* source :
       {"git::ext::sh -c 'touch pwned'", "git::https://-oProxyCommand=x/a.git", "git::ssh://-oProxyCommand=x/a.git",
        "git::https://example.test/a.git?ref=--upload-pack=touch", "git::fd::7/a"}) {
    BOOST_TEST_CONTEXT(source) {
      check_configuration_refused(module_call("vpc", source), 8, {"[SOURCE_DENIED]", "main.tf:2:"});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_constraint_that_is_none) {
  check_configuration_refused(module_call("vpc", "git::" + vpc.url(), "~> one"), 8,
                              {"[CONSTRAINT_SYNTAX]", "main.tf:3:"});
}

BOOST_AUTO_TEST_CASE(a_rule_for_a_call_that_is_not_there) {
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + module_rule("vcp", "~> 1.0"));
  check_refused({"lock"}, 8, {"[CONFIG_PARSE]", "vcp", ".tofu-modlock.hcl:4:"});
}

BOOST_AUTO_TEST_CASE(a_rule_on_a_call_pinned_by_ref) {
  check_configuration_refused(module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"), 8,
                              {"[CONFIG_PARSE]", ".tofu-modlock.hcl:2:13", "?ref=v1.0.0"});
}

BOOST_AUTO_TEST_CASE(a_program_named_by_the_repository) {
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + "backend \"x\" {\n  command = [\"touch\", \"pwned\"]\n}\n");
  check_refused({"lock"}, 8, {"[SOURCE_DENIED]", ".tofu-modlock.hcl:4"});
}

BOOST_AUTO_TEST_CASE(modules_that_call_each_other_for_ever) {
  write("a/main.tf", module_call("b", "../b"));
  write("b/main.tf", module_call("a", "../a"));
  check_configuration_refused(module_call("a", "./a"), 8, {"main.tf:"});
}

BOOST_AUTO_TEST_CASE(no_git_on_the_path) {
  fs::create_directories(path("empty"));
  environment["PATH"] = path("empty").string();
  release(vpc, "1.1.0");
  check_refused({"upgrade"}, 2, {"[TOOL_MISSING]", "git", "hint: "});
  BOOST_TEST(lock() == before);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);  // still works
  BOOST_TEST(modlock({"lock"}).exit_code == 0);    // nothing to ask
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
