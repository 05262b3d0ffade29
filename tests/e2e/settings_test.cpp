// What settings files above a root, and a change of settings, do to it.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "protocol/base/json.h"
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
  BOOST_TEST(read(kSidecar) == as_sidecar(locked));
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
  BOOST_TEST(read(kSidecar) == as_sidecar(locked));
  BOOST_TEST(read(kInline).find("module ") == std::string::npos);
  BOOST_TEST(read(kInline).ends_with(provider));
  place("inline");
  check({"lock", "--include", "modules"});
  BOOST_TEST(!has(kSidecar));
  BOOST_TEST(read(kInline) == locked + provider);
}

// Blocks in both files: every command believes the same one.
BOOST_AUTO_TEST_CASE(blocks_in_both_files) {
  check({"lock"});
  const std::string old = read(kInline);
  release(vpc, "1.1.0");
  check({"upgrade"});
  const std::string next = read(kInline);
  struct Row {
    const char* name;
    const char* setting;
    std::string inline_text;
    std::string sidecar_text;
    std::string locked;        // empty: the commands fail with 8
    int frozen = 0;            // exit code of lock --frozen
    std::string written = {};  // what `lock` says
  };
  const std::string up_to_date = "The lock file is up to date.\n";
  const std::string moved = "\ntofu-modlock has deleted .terraform.lock.hcl, which no longer contains used blocks.\n";
  const std::string unused =
      "\ntofu-modlock has deleted .terraform.modules.lock.hcl, which no longer contains used blocks.\n";
  for (const Row& row : {
           Row{"the same in both", "", next, next, "<1.1.0>", 0, up_to_date},
           Row{"without blocks in the lock file", "", "# mine\n", next, "<1.1.0>", 0, up_to_date},
           Row{"without blocks in the sidecar", "", next, "# mine\n", "<1.1.0>", 3, unused},
           Row{"different", "", old, next, ""},
           Row{"different, the other way round", "", next, old, ""},
           Row{"different, written unusually", "", old, "  " + next.substr(next.find("module")), ""},
           Row{"the sidecar by the setting", "sidecar", old, next, "<1.1.0>", 3, moved},
           Row{"the lock file by the setting", "inline", next, old, "<1.1.0>", 3, unused},
           Row{"the lock file by the setting, without blocks", "inline", "# mine\n", next, "<1.1.0>", 3},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write(kInline, row.inline_text);
      write(kSidecar, row.sidecar_text);
      const std::string setting = row.setting;
      write(".tofu-modlock.hcl",
            (setting.empty() ? "" : "module_lock_file = \"" + setting + "\"\n") + module_rule("vpc", "~> 1.0"));
      const int code = row.locked.empty() ? 8 : 0;
      BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == (code == 0 ? row.frozen : code));
      for (const char* command : {"install", "verify", "status", "inspect", "graph", "sbom"}) {
        BOOST_TEST(modlock({command}).exit_code == code, command);
      }
      if (code == 0) {
        BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("1.1.0") != std::string::npos);
        BOOST_TEST(json({"inspect", "--json"})["modules"][0]["lockedVersion"].asString() == "1.1.0");
        BOOST_TEST(parse_json(modlock({"sbom"}).out).value()["components"][0]["version"].asString() == "1.1.0");
      }
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == code, ran.err);
      BOOST_TEST((row.written.empty() || ran.out == row.written), ran.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(different_entries_of_a_call_are_an_error_that_names_both) {
  check({"lock"});
  const std::string old = read(kInline);
  release(vpc, "1.1.0");
  place("sidecar");
  check({"upgrade"});
  write(kInline, old);
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  check_ran(modlock({"verify"}), 8, "",
            "Error: .terraform.lock.hcl and .terraform.modules.lock.hcl have different entries for module \"vpc\" "
            "(1.0.0 and 1.1.0) [LOCK_PARSE]\n"
            "  at .terraform.modules.lock.hcl:4:1 (module.vpc)\n"
            "  hint: find out which file is right; select it with module_lock_file = \"sidecar\" or \"inline\" in "
            ".tofu-modlock.hcl, then run: tofu-modlock lock\n");
  place("sidecar");
  check({"lock"});
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  check({"lock", "--frozen"});
  BOOST_TEST(!has(kInline));
}

// Until an entry changes: then the blocks of the lock file would contradict it.
BOOST_AUTO_TEST_CASE(repeated_blocks_leave_with_the_next_change) {
  check({"lock"});
  write(kSidecar, read(kInline));
  release(vpc, "1.1.0");
  check({"lock"});
  BOOST_TEST(has(kInline));
  check({"upgrade"});
  BOOST_TEST(!has(kInline));
  check({"lock", "--frozen"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
