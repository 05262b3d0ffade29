// What verify says of each kind of damage, and of what became of the sources.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <regex>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Verifying : Scene {
  Verifying() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0", {{".hidden", "x\n"}, {"notes.txt", "n\n"}});
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    modlock({"lock", "--install"});
  }
  std::string verdict(const std::vector<std::string>& flags, int exit_code) {
    std::vector<std::string> arguments = {"verify"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Json::Value result = json(arguments, exit_code);
    BOOST_TEST(result["ok"].asBool() == (exit_code == 0));
    std::string text;
    for (const Json::Value& each : result["verdicts"]) {
      text += each["subject"].asString() + " " + each["verdict"].asString() + ": " + each["detail"].asString() + "\n";
    }
    return text;
  }
  GitRepository& vpc;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(verify_command, Verifying)

BOOST_AUTO_TEST_CASE(verbose_shows_the_source) {
  const std::string source = "git::file://<dir>/repositories/vpc.git";
  BOOST_TEST(modlock({"verify"}).out == "verified  module.vpc  1.0.0\n1 verified\n");
  BOOST_TEST(modlock({"verify", "-v"}).out == "verified  module.vpc  1.0.0  " + source + "\n1 verified\n");
  fs::remove_all(root() / ".terraform");
  BOOST_TEST(modlock({"verify", "-v"})
                 .out.starts_with("missing  module.vpc  1.0.0  " + source + "  it is locked, but not installed\n"));
}

BOOST_AUTO_TEST_CASE(a_lock_file_that_is_empty_is_not_missing) {
  const std::string error = " .terraform.lock.hcl does not match the configuration: module.vpc (not locked) [FROZEN]\n";
  write(".terraform.lock.hcl", "");
  BOOST_TEST(modlock({"install"}).err.starts_with("Error: the empty" + error));
  fs::remove(root() / ".terraform.lock.hcl");
  BOOST_TEST(modlock({"install"}).err.starts_with("Error: the missing" + error));
}

BOOST_AUTO_TEST_CASE(each_kind_of_damage_has_its_verdict_and_its_exit_code) {
  struct Row {
    const char* name;
    std::function<void(Verifying&)> damage;
    std::vector<std::string> flags;
    int exit_code;
    const char* expected;
  };
  const std::string module = ".terraform/modules/vpc/";
  const Row rows[] = {
      {"none", [](Verifying&) {}, {}, 0, "module.vpc held: \n"},
      {"a file changed",
       [&](Verifying& s) { s.write(module + "main.tf", "# mine\n"); },
       {},
       4,
       "module.vpc tampered: 1 file differs from the locked package\n"},
      {"a file deleted",
       [&](Verifying& s) { fs::remove(s.root() / (module + "notes.txt")); },
       {},
       4,
       "module.vpc tampered: 1 file differs from the locked package\n"},
      {"configuration added",
       [&](Verifying& s) { s.write(module + "sub/evil.tofu", ""); },
       {},
       4,
       "module.vpc tampered: 1 file differs from the locked package\n"},
      {"a link out of the package",
       [&](Verifying& s) { fs::create_symlink("/etc/passwd", s.root() / (module + "link")); },
       {},
       4,
       "module.vpc tampered: the link \"link\" of the package points to the absolute path \"/etc/passwd\"\n"},
      {"a dotfile gone, as in a copy of OpenTofu's",
       [&](Verifying& s) { fs::remove(s.root() / (module + ".hidden")); },
       {},
       0,
       "module.vpc held: 1 file differs from the locked package, none that a client would load\n"},
      {"a dotfile gone, strictly",
       [&](Verifying& s) { fs::remove(s.root() / (module + ".hidden")); },
       {"--strict"},
       4,
       "module.vpc tampered: 1 file differs from the locked package\n"},
      {"the module removed",
       [&](Verifying& s) { fs::remove_all(s.root() / module); },
       {},
       3,
       "module.vpc missing: it is locked, but not installed\n"},
      {"the data directory removed",
       [&](Verifying& s) { fs::remove_all(s.root() / ".terraform"); },
       {},
       3,
       "module.vpc missing: it is locked, but not installed\n"},
      {"the entry removed",
       [&](Verifying& s) { fs::remove(s.root() / ".terraform.lock.hcl"); },
       {},
       3,
       "module.vpc not-locked: the lock file has no entry for this call; lock restores it\n"},
      {"another source called",
       [&](Verifying& s) { s.write("main.tf", module_call("vpc", "git::https://example.com/other.git")); },
       {},
       3,
       "module.vpc not-locked: it is locked from git::file://<dir>/repositories/vpc.git, and the configuration calls "
       "git::https://example.com/other.git\n"},
      {"the call removed",
       [&](Verifying& s) {
         s.write("main.tf", "");
         fs::remove(s.root() / ".tofu-modlock.hcl");
       },
       {},
       3,
       "module.vpc not-locked: the lock file has an entry that no call has\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Verifying scene;
      scene.verdict({}, 0);  // so that what is remembered of the files is there to be wrong
      row.damage(scene);
      BOOST_TEST(scene.shown(scene.verdict(row.flags, row.exit_code)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(another_installed_version_is_stale) {
  struct Row {
    const char* name;
    std::function<void(Verifying&)> change;  // 1.0.0 is installed; afterwards 1.1.0 is locked
  };
  const auto git = [](Verifying& s, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=x", "-c", "user.email=x@example.com"});
    const Ran ran = s.program(std::move(arguments));
    BOOST_TEST(ran.exit_code == 0, ran.err);
  };
  const Row rows[] = {
      {"lock", [](Verifying& s) { s.modlock({"lock"}); }},
      {"upgrade", [](Verifying& s) { s.modlock({"upgrade"}); }},
      {"update",
       [](Verifying& s) {
         s.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0.0"));
         s.modlock({"lock"});
         s.modlock({"update", "module.vpc=1.1.0"});
       }},
      {"a branch switch",
       [&](Verifying& s) {
         s.write(".gitignore", ".terraform/\n");
         git(s, {"init", "--quiet", "--initial-branch", "main"});
         git(s, {"add", "--all"});
         git(s, {"commit", "--quiet", "--message", "1.0.0"});
         git(s, {"switch", "--quiet", "--create", "newer"});
         s.modlock({"upgrade", "--install"});
         git(s, {"commit", "--quiet", "--all", "--message", "1.1.0"});
         git(s, {"switch", "--quiet", "main"});
         s.modlock({"install"});
         git(s, {"switch", "--quiet", "newer"});
       }},
      {"an upgrade of a colleague, pulled",
       [](Verifying& s) {
         fs::rename(s.cache(), s.path("mine"));
         fs::rename(s.root() / ".terraform", s.path("installed"));
         s.modlock({"upgrade", "--install"});
         fs::remove_all(s.cache());
         fs::remove_all(s.root() / ".terraform");
         fs::rename(s.path("mine"), s.cache());
         fs::rename(s.path("installed"), s.root() / ".terraform");
       }},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Verifying scene;
      scene.release(scene.vpc, "1.1.0");
      scene.write(".tofu-modlock.hcl", module_rule("vpc", row.name == std::string("lock") ? "1.1.0" : "~> 1.0"));
      row.change(scene);
      BOOST_TEST(scene.verdict({}, 3) == "module.vpc stale: 1.0.0 is installed, 1.1.0 is locked\n");
      const Ran ran = scene.modlock({"verify"});
      BOOST_TEST(ran.exit_code == 3);
      BOOST_TEST(ran.out ==
                 "stale  module.vpc  1.1.0  1.0.0 is installed, 1.1.0 is locked\n"
                 "0 verified, 1 stale\n"
                 "Next: run tofu-modlock install.\n");
      BOOST_TEST(ran.err == "");
      BOOST_TEST(scene.modlock({"verify", "--sarif"}).out.find("module.vpc is stale: 1.0.0 is installed") !=
                 std::string::npos);
      BOOST_TEST(scene.modlock({"install"}).exit_code == 0);
      BOOST_TEST(scene.verdict({}, 0) == "module.vpc held: \n");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_became_of_the_source_is_asked_online_only) {
  struct Row {
    const char* name;
    std::function<void(Verifying&)> change;
    int exit_code;
    const char* expected;
  };
  const Row rows[] = {
      {"nothing", [](Verifying&) {}, 0, "module.vpc held: \n"},
      {"a newer version", [](Verifying& s) { s.release(s.vpc, "1.1.0"); }, 0,
       "module.vpc update-available: version 1.1.0 is available\n"},
      {"the tag moved ahead",
       [](Verifying& s) {
         s.name_id(s.vpc.commit({{"main.tf", "# new\n"}}), "new");
         s.vpc.git({"tag", "--force", "v1.0.0", "main"});
       },
       4, "module.vpc moved: the tag \"v1.0.0\" was moved from <1.0.0...> to <new...>, 1 commit ahead\n"},
      {"the tag moved to another history",
       [](Verifying& s) {
         const std::string tree = s.vpc.write_tree("100644 blob " + s.vpc.write_blob("# evil\n") + "\tmain.tf\n");
         const std::string evil = s.vpc.commit_tree(tree);
         s.name_id(evil, "evil");
         s.vpc.git({"tag", "--force", "v1.0.0", evil});
       },
       4,
       "module.vpc moved: the tag \"v1.0.0\" was moved from <1.0.0...> to <evil...>, which does not descend from the "
       "old "
       "one\n"},
      {"the tag gone", [](Verifying& s) { s.vpc.remove("refs/tags/v1.0.0"); }, 5,
       "module.vpc vanished: version 1.0.0 is no longer among the versions of "
       "\"git::file://<dir>/repositories/vpc.git\"; first seen there at <time>\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Verifying scene;
      row.change(scene);
      const std::string verdict = scene.shown(scene.verdict({"--online"}, row.exit_code));
      BOOST_TEST(std::regex_replace(verdict, std::regex(" at 20[0-9:TZ-]+"), " at <time>") == row.expected);
      BOOST_TEST(scene.verdict({}, 0) == "module.vpc held: \n");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_edited_commit_beside_a_true_h1) {
  const std::string first = vpc.git({"rev-parse", "v1.0.0"}).substr(0, 40);
  const std::string second = release(vpc, "1.1.0");
  write(".tofu-modlock.hcl", "");
  struct Row {
    const char* name;
    std::string query;
  };
  for (const Row& row : {Row{"the default branch", ""}, Row{"a branch", "?ref=main"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", module_call("vpc", "git::" + vpc.url() + row.query));
      fs::remove_all(root() / ".terraform");
      fs::remove(root() / ".terraform.lock.hcl");
      BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
      BOOST_TEST(verdict({}, 0) == "module.vpc held: \n");
      std::string edited = lock();
      BOOST_REQUIRE(edited.find(second) != std::string::npos);
      edited.replace(edited.find(second), second.size(), first);
      write(".terraform.lock.hcl", edited);
      // The cache has fetched that commit, too.
      const std::string expected =
          "module.vpc tampered: the lock file contradicts itself, for the content of its git:<1.0.0> has another "
          "checksum; take it from version control again\n";
      BOOST_TEST(shown(verdict({}, 4)) == expected);
      const std::string advice = modlock({"verify"}).err;
      BOOST_TEST(advice.find("tofu-modlock upgrade --target module.vpc") != std::string::npos, advice);
      BOOST_TEST(advice.find("tofu-modlock install") == std::string::npos, advice);
      BOOST_TEST(modlock({"install"}).exit_code == 4);
      BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 4);
      // One that has not must ask.
      fs::rename(cache(), path("away"));
      BOOST_TEST(verdict({}, 0) == "module.vpc held: \n");
      BOOST_TEST(shown(verdict({"--online"}, 4)) == expected);
      fs::remove_all(cache());
      fs::rename(path("away"), cache());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_h1_is_restored_from_version_control) {
  std::string edited = lock();
  const std::size_t at = edited.find("\"h1:") + 4;
  edited.replace(at, 4, edited.substr(at, 4) == "aaaa" ? "bbbb" : "aaaa");
  for (const bool damages_file : {false, true}) {
    BOOST_TEST_CONTEXT(damages_file) {
      write(".terraform.lock.hcl", edited);
      if (damages_file) {
        write(".terraform/modules/vpc/main.tf", "# mine\n");
      }
      const Ran ran = modlock({"verify"});
      BOOST_TEST(ran.exit_code == 4);
      BOOST_TEST(
          ran.err.find("The lock file is wrong: restore this entry from version control.\n") != std::string::npos,
          ran.err);
      BOOST_TEST(ran.err.find("tofu-modlock install") == std::string::npos, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_checksum_matches_where_files_differ) {
  write(".terraform/modules/vpc/added.txt", "mine\n");
  const Ran ran = modlock({"verify"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
             "verified  module.vpc  1.0.0  1 file differs from the locked package, none that a client would load\n"
             "1 verified\n");
}

BOOST_AUTO_TEST_CASE(a_repository_that_is_gone_has_vanished) {
  fs::remove_all(vpc.path());
  const Ran ran = modlock({"verify", "--online"});
  BOOST_TEST(ran.exit_code == 5);
  BOOST_TEST(ran.out.find("vanished  module.vpc  1.0.0  ") == 0U, ran.out);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_source_out_of_reach_does_not_sink_the_others) {
  release(vpc, "1.1.0");
  write("more.tf", module_call("more", "git::http://127.0.0.1:1/more.git", ""));
  std::string text = lock();
  text +=
      "\nmodule \"more\" {\n  source = \"git::http://127.0.0.1:1/more.git\"\n\n  hashes = [\n    "
      "\"git:1111111111111111111111111111111111111111\",\n    \"h1:x\",\n  ]\n}\n";
  write(".terraform.lock.hcl", text);
  const Ran ran = modlock({"verify", "--online"});
  BOOST_TEST(ran.exit_code == 7);  // before 3, which the missing one alone would give
  BOOST_TEST(ran.out.find("update-available  module.vpc   1.0.0                version 1.1.0 is available\n") !=
                 std::string::npos,
             ran.out);
  BOOST_TEST(ran.out.find("missing           module.more  commit 111111111111  it is locked, but not installed\n") !=
                 std::string::npos,
             ran.out);
  BOOST_TEST(ran.err.find("[UNREACHABLE]") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(online_and_offline_exclude_each_other) {
  BOOST_TEST(modlock({"verify", "--online", "--offline"}).exit_code == 2);
  environment["TOFU_MODLOCK_OFFLINE"] = "1";
  BOOST_TEST(modlock({"verify", "--online"}).exit_code == 2);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(the_words_of_a_moved_tag) {
  name_id(vpc.commit({{"main.tf", "# new\n"}}), "new");
  vpc.git({"tag", "--force", "v1.0.0", "main"});
  const Ran ran = modlock({"verify", "--online"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.out ==
             "moved  module.vpc  1.0.0  replaced at the source\n"
             "\n0 verified, 1 moved\n");
  BOOST_TEST(ran.err == R"(
Error: a locked module was replaced at its source

  module.vpc: the tag "v1.0.0" was moved from <1.0.0...> to <new...>, 1 commit ahead.
  A release should never change; it may have been tampered with.

  expected: git:<1.0.0>
  got:      git:<new>

  The locked version is kept. To lock the current content after a review, run:
    tofu-modlock upgrade --target module.vpc
)");
}

BOOST_AUTO_TEST_CASE(an_offline_verify_makes_no_socket) {
  const std::string denied = MODLOCK_WITHOUT_NETWORK;
  BOOST_TEST(program({denied, binary, "verify"}).exit_code == 0);
  write(".terraform/modules/vpc/main.tf", "# mine\n");
  BOOST_TEST(program({denied, binary, "verify", "--full"}).exit_code == 4);
  // What does ask is ended: the filter works.
  write("main.tf", module_call("vpc", "git::http://127.0.0.1:1/vpc.git"));
  const Ran asking =
      program({"sh", "-c", "\"$0\" \"$1\" versions git::http://127.0.0.1:1/vpc.git; exit $?", denied, binary});
  BOOST_TEST(asking.exit_code == 128 + 31);
}

BOOST_AUTO_TEST_CASE(full_hashes_what_is_remembered_too) {
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(modlock({"verify", "--full"}).exit_code == 0);
  const fs::path file = root() / ".terraform/modules/vpc/notes.txt";
  const auto time = fs::last_write_time(file);
  write(".terraform/modules/vpc/notes.txt", "m\n");
  fs::last_write_time(file, time);
  BOOST_TEST(modlock({"verify"}).exit_code == 4);
  BOOST_TEST(modlock({"verify", "--full"}).exit_code == 4);
}

BOOST_AUTO_TEST_CASE(sarif_names_the_call_and_the_verdict) {
  write(".terraform/modules/vpc/main.tf", "# mine\n");
  const Ran ran = modlock({"verify", "--sarif"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.err == "");
  const Json::Value run = parse_json(ran.out).value()["runs"][0];
  BOOST_TEST(run["invocations"][0]["executionSuccessful"].asBool());
  BOOST_TEST(run["invocations"][0]["exitCode"].asInt() == 4);
  BOOST_TEST_REQUIRE(run["results"].size() == 1U);
  const Json::Value& result = run["results"][0];
  BOOST_TEST(result["ruleId"].asString() == "tampered");
  BOOST_TEST(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].asString() == "main.tf");
  BOOST_TEST(result["locations"][0]["physicalLocation"]["region"]["startLine"].asInt() == 2);
  BOOST_TEST(modlock({"verify", "--sarif", "--json"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(sarif_tells_what_made_it_impossible) {
  write("main.tf", "module \"vpc {\n");
  const Ran ran = modlock({"verify", "--sarif"});
  BOOST_TEST(ran.exit_code == 8);
  const Json::Value invocation = parse_json(ran.out).value()["runs"][0]["invocations"][0];
  BOOST_TEST(!invocation["executionSuccessful"].asBool());
  BOOST_TEST(invocation["toolExecutionNotifications"][0]["descriptor"]["id"].asString() == "CONFIG_PARSE");
}

// A newer client may fetch code for a block that is not known.
BOOST_AUTO_TEST_CASE(an_unknown_block_with_a_source_is_not_locked_in_ci) {
  write("later.tf", "symbols \"lib\" {\n  source = \"git::https://example.com/lib.git\"\n}\n");
  constexpr std::string_view kWarning =
      "Warning: the block symbols.lib has a source, but its type is not known: what it fetches is neither locked nor "
      "verified [SOURCE_UNSUPPORTED]";
  constexpr std::string_view kVerdicts =
      "module.vpc held: \nsymbols.lib not-locked: the type of the block is not known, and the block has a source\n";
  const Ran locked = modlock({"lock", "--frozen", "--include", "modules"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.err.find(kWarning) != std::string::npos, locked.err);
  BOOST_TEST(modlock({"verify"}).err.find(kWarning) != std::string::npos);
  BOOST_TEST(verdict({}, 0) == "module.vpc held: \n");
  BOOST_TEST(verdict({"--strict"}, 3) == kVerdicts);
  environment["CI"] = "true";
  BOOST_TEST(verdict({}, 3) == kVerdicts);
  const Json::Value error = json({"lock", "--frozen", "--include", "modules"}, 3)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
  BOOST_TEST(error["message"].asString() ==
             "the block symbols.lib has a source, but its type is not known: it cannot be locked");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
