#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

// Two modules, one of them with a call of its own.
struct Upgrading : Scene {
  Upgrading() : vpc(repository("vpc.git")), dns(repository("dns.git")), zone(repository("zone.git")) {
    release(zone, "0.1.0");
    release(vpc, "1.0.0");
    release_dns("2.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("dns", "git::" + dns.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + module_rule("dns", ">= 2.0.0, < 3.0.0"));
  }
  void release_dns(const std::string& version) {
    release(dns, version, {{"zone.tf", module_call("zone", "git::" + zone.url(), "~> 0.1")}});
  }
  void release_all_anew() {
    release(zone, "0.2.0");
    release(vpc, "1.1.0");
    release_dns("2.1.0");
  }
  GitRepository& vpc;
  GitRepository& dns;
  GitRepository& zone;
};

// Two locked modules: the tag of "a" was moved, and "other" has a new release.
struct MovedTag : Scene {
  MovedTag(const std::string& query, const std::string& rule, const std::string& tag) {
    GitRepository& a = repository("a.git");
    release(a, "1.0.0");
    a.git({"tag", "--force", tag, "main"});
    release(other, "1.0.0");
    write("main.tf", module_call("a", "git::" + a.url() + query) + module_call("other", "git::" + other.url()));
    write(".tofu-modlock.hcl", (rule.empty() ? "" : module_rule("a", rule)) + module_rule("other", "~> 1.0"));
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
    name_id(a.commit({{"main.tf", "# other\n"}}), "moved");
    a.git({"tag", "--force", tag, "main"});
    release(other, "1.1.0");
  }
  GitRepository& other = repository("other.git");
};

BOOST_FIXTURE_TEST_SUITE(upgrade_command, Upgrading)

BOOST_AUTO_TEST_CASE(takes_the_newest_that_every_constraint_allows) {
  modlock({"lock"});
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.0.0>"}, {"dns.zone", "<0.1.0>"}, {"vpc", "<1.0.0>"}}));
  release_all_anew();
  release(vpc, "2.0.0");  // not allowed
  const Ran ran = modlock({"upgrade"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("module.dns       2.0.0 -> 2.1.0  (>= 2.0.0, < 3.0.0)\n"
                          "module.dns.zone  0.1.0 -> 0.2.0  (~> 0.1)\n"
                          "module.vpc       1.0.0 -> 1.1.0  (~> 1.0)\n") == 0U,
             ran.out);
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.1.0>"}, {"dns.zone", "<0.2.0>"}, {"vpc", "<1.1.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_tag_that_was_deleted_ends_as_vanished) {
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  write(".tofu-modlock.hcl", "");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  vpc.remove("refs/tags/v1.0.0");
  const Ran ran = modlock({"upgrade"});
  BOOST_TEST(ran.exit_code == 5);
  BOOST_TEST(ran.err.find("[NOT_FOUND]") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(an_upgrade_without_a_change_names_what_the_constraints_exclude) {
  modlock({"lock"});
  BOOST_TEST(modlock({"upgrade"}).out == "The lock file is up to date.\n");
  release(vpc, "2.0.0");
  release(vpc, "2.1.0");
  const std::string excluded =
      "The lock file is up to date.\n"
      "module.vpc 1.0.0: 2.1.0 is available, but \"~> 1.0\" excludes it (.tofu-modlock.hcl:2:13)\n"
      "To select one, run: tofu-modlock update SUBJECT=VERSION\n";
  BOOST_TEST(modlock({"upgrade"}).out == excluded);
  BOOST_TEST(modlock({"upgrade", "--target", "module.vpc"}).out == excluded);
  BOOST_TEST(modlock({"upgrade", "--target", "vpc"}).out == excluded);
  BOOST_TEST(modlock({"upgrade", "--target", "module.dns"}).out == "The lock file is up to date.\n");
  BOOST_TEST(modlock({"lock"}).out == "The lock file is up to date.\n");
  // A change is enough to report.
  release_dns("2.1.0");
  BOOST_TEST(modlock({"upgrade"}).out.find("excludes") == std::string::npos);
}

// An upgrade does not list the tags of these sources.
BOOST_AUTO_TEST_CASE(an_upgrade_without_a_change_names_the_calls_that_a_tag_pins) {
  struct Row {
    const char* name;
    std::vector<std::string> command;
    const char* pinned;  // empty: the note is absent
  };
  const Row rows[] = {
      {"all", {"upgrade"}, "module.a (?ref=v1.0.0), module.b (?ref=v1.0.0), module.c (?ref=v1.0.0) and 1 more"},
      {"a target", {"upgrade", "--target", "module.d"}, "module.d (?ref=v1.0.0)"},
      {"a bare target", {"upgrade", "--target", "d"}, "module.d (?ref=v1.0.0)"},
      {"a branch", {"upgrade", "--target", "branch"}, ""},
      {"only providers", {"upgrade", "--include", "providers"}, ""},
  };
  std::string calls = module_call("branch", "git::" + vpc.url() + "?ref=main");
  for (const char* name : {"a", "b", "c", "d"}) {
    calls += module_call(name, "git::" + vpc.url() + "?ref=v1.0.0");
  }
  write("main.tf", calls);
  write(".tofu-modlock.hcl", "");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string pinned = row.pinned;
      BOOST_TEST(modlock(row.command).out ==
                 "The lock file is up to date.\n" + (pinned.empty()
                                                         ? ""
                                                         : "Pinned in the configuration: " + pinned +
                                                               "\nTo list newer tags, run: tofu-modlock outdated\n"));
    }
  }
  BOOST_TEST(modlock({"upgrade", "-v"}).err.find("ls-remote") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_subject_instead_of_a_directory_is_explained) {
  struct Row {
    std::vector<std::string> command;
    const char* run;
  };
  for (const Row& row :
       {Row{{"upgrade", "module.vpc=1.1"}, "select a version, run: tofu-modlock update module.vpc=1.1"},
        Row{{"upgrade", "vpc"}, "upgrade one module or provider, run: tofu-modlock upgrade --target vpc"},
        Row{{"lock", "module.vpc"}, "upgrade one module or provider, run: tofu-modlock upgrade --target module.vpc"}}) {
    const Ran ran = modlock(row.command);
    BOOST_TEST(ran.exit_code == 2);
    BOOST_TEST(ran.err.find(row.command.back() + " is not a directory [INVALID_PARAMS]") != std::string::npos, ran.err);
    BOOST_TEST(ran.err.ends_with(std::string("name a directory with a root module; to ") + row.run + "\n"), ran.err);
  }
}

BOOST_AUTO_TEST_CASE(a_target_takes_its_subtree_and_nothing_else) {
  modlock({"lock"});
  release_all_anew();
  BOOST_TEST(modlock({"upgrade", "--target", "module.dns"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.1.0>"}, {"dns.zone", "<0.2.0>"}, {"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_nested_target_leaves_its_parent) {
  modlock({"lock"});
  release_all_anew();
  BOOST_TEST(modlock({"upgrade", "--target", "module.dns.zone"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.0.0>"}, {"dns.zone", "<0.2.0>"}, {"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(an_unknown_target_is_an_error) {
  modlock({"lock"});
  age_lock();
  const Ran ran = modlock({"upgrade", "--target", "module.nope"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err.find("module.nope") != std::string::npos, ran.err);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(upgrade_and_install_in_one_go) {
  modlock({"lock", "--install"});
  release_all_anew();
  BOOST_TEST(modlock({"upgrade", "--install"}).exit_code == 0);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("1.1.0") != std::string::npos);
  BOOST_TEST(read(".terraform/modules/dns.zone/main.tf").find("0.2.0") != std::string::npos);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_moved_tag_is_held_until_it_is_accepted) {
  struct Row {
    const char* name;
    const char* query;
    const char* rule;  // empty: none
    const char* tag;
    bool is_held;
  };
  const Row rows[] = {
      {"the tag of a version", "", "~> 1.0", "v1.0.0", true},
      {"a full tag", "?ref=v1.0.0", "", "v1.0.0", true},
      {"a tag that is no version", "?ref=release", "", "release", true},
      {"a partial tag", "?ref=v1", "", "v1", false},
      {"two numbers", "?ref=v1.0", "", "v1.0", false},
      {"latest", "?ref=latest", "", "latest", false},
      {"a branch", "?ref=main", "", "v1.0.0", false},
      {"HEAD", "", "", "v1.0.0", false},
  };
  for (const Row& row : rows) {
    for (const std::vector<std::string>& flags :
         {std::vector<std::string>{}, {"--accept-moved"}, {"--target", "module.a"}}) {
      BOOST_TEST_CONTEXT(row.name << " " << (flags.empty() ? "" : flags[0])) {
        MovedTag scene(row.query, row.rule, row.tag);
        BOOST_TEST(scene.modlock({"lock"}).out == "The lock file is up to date.\n");
        std::vector<std::string> arguments = {"upgrade"};
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        const bool is_held = row.is_held && flags.empty();
        const Ran ran = scene.modlock(arguments);
        BOOST_TEST(ran.exit_code == (is_held ? 4 : 0), ran.err);
        BOOST_TEST(locked_commits(scene)["a"] == (is_held ? "<1.0.0>" : "<moved>"));
        const std::size_t held = ran.err.find("module.a: git:<1.0.0> is locked, git:<moved> is offered");
        BOOST_TEST((held != std::string::npos) == is_held, ran.err);
        const bool is_whole = flags.empty() || flags[0] == "--accept-moved";
        BOOST_TEST((scene.lock().find("version = \"1.1.0\"") != std::string::npos) == is_whole, scene.lock());
        if (is_held) {
          const Json::Value result = scene.json({"upgrade"}, 4);
          BOOST_TEST(result["error"]["data"]["code"].asString() == "HASH_MISMATCH");
          const Json::Value& move = result["error"]["data"]["moved"][0];
          BOOST_TEST(move["subject"].asString() == "module.a");
          BOOST_TEST(scene.shown(move["locked"].asString()) == "git:<1.0.0>");
          BOOST_TEST(scene.shown(move["offered"].asString()) == "git:<moved>");
          BOOST_TEST(scene.modlock({"install"}).exit_code == 0);
        }
      }
    }
  }
}

// `lock` and `update` accept moved tags too; they change nothing else.
BOOST_AUTO_TEST_CASE(lock_accepts_moved_tags_and_changes_nothing_else) {
  struct Row {
    const char* name;
    const char* query;
    const char* rule;  // empty: none
    const char* tag;
    const char* locked;
  };
  const Row rows[] = {
      {"the tag of a version", "", "~> 1.0", "v1.0.0", "<moved>"},
      {"a full tag", "?ref=v1.0.0", "", "v1.0.0", "<moved>"},
      {"a tag that is no version", "?ref=release", "", "release", "<moved>"},
      {"a partial tag", "?ref=v1", "", "v1", "<1.0.0>"},
      {"latest", "?ref=latest", "", "latest", "<1.0.0>"},
      {"a branch", "?ref=main", "", "v1.0.0", "<1.0.0>"},
      {"HEAD", "", "", "v1.0.0", "<1.0.0>"},
  };
  for (const Row& row : rows) {
    for (const char* command : {"lock", "update"}) {
      BOOST_TEST_CONTEXT(row.name << " " << command) {
        MovedTag scene(row.query, row.rule, row.tag);
        scene.release(scene.other, "2.0.0");
        std::vector<std::string> arguments = {command, "--accept-moved"};
        if (std::string(command) == "update") {
          arguments.emplace_back("module.other=1.1.0");
        }
        const Ran ran = scene.modlock(arguments);
        BOOST_TEST(ran.exit_code == 0, ran.err);
        Commits expected = {{"a", row.locked}, {"other", arguments.size() == 3U ? "<1.1.0>" : "<1.0.0>"}};
        BOOST_TEST((locked_commits(scene) == expected), scene.shown(scene.lock()));
        const bool is_told = ran.err.find("[TAG_MOVED]") != std::string::npos;
        BOOST_TEST(is_told == (expected["a"] == "<moved>"), ran.err);
        BOOST_TEST(scene.modlock({"install"}).exit_code == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_accepted_moved_tag_is_recorded_with_both_commits_and_a_warning) {
  modlock({"lock"});
  name_id(vpc.commit({{"main.tf", "# other\n"}}), "moved");
  vpc.tag("v1.0.0");
  const Ran ran = modlock({"upgrade", "--accept-moved"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("module.vpc  1.0.0  moved from commit <1.0.0...> to commit <moved...>  (~> 1.0)\n") == 0U,
             ran.out);
  BOOST_TEST(ran.err.find(
                 "Warning: the tag of version 1.0.0 of \"git::file://<dir>/repositories/vpc.git\" was moved: from "
                 "commit <1.0.0> to commit <moved> [TAG_MOVED]\n  at main.tf:2:12 (module.vpc)\n") != std::string::npos,
             ran.err);
  BOOST_TEST(
      ran.err.find("\n  hint: a published release should not change; contact its author, and review the difference "
                   "before you commit the lock file: tofu-modlock diff --lock-rev HEAD\n") != std::string::npos,
      ran.err);
  BOOST_TEST(locked_commits(*this)["vpc"] == "<moved>");
}

// The last commit has the former commit of the tag.
BOOST_AUTO_TEST_CASE(an_undone_update_is_compared_with_the_last_commit) {
  struct Row {
    const char* name;
    std::vector<std::string> undo;
    bool edits;  // the source in the configuration first
  };
  const Row rows[] = {
      {"update", {"update", "vpc=1.0.0"}, false},
      {"an edit", {"lock"}, true},
      {"an edit, and an upgrade of everything", {"upgrade"}, true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Scene scene;
      GitRepository& a = scene.repository("a.git");
      scene.release(a, "1.0.0");
      scene.release(a, "1.1.0");
      const std::string configuration = module_call("vpc", "git::" + a.url() + "?ref=v1.0.0");
      scene.write("main.tf", configuration);
      BOOST_REQUIRE(scene.modlock({"lock"}).exit_code == 0);
      for (const char* const command :
           {"git init -q", "git add main.tf .terraform.lock.hcl",
            "git -c user.name=a -c user.email=a@example.test -c commit.gpgsign=false commit "
            "-q -m lock"}) {
        BOOST_REQUIRE(scene.program({"sh", "-c", command}).exit_code == 0);
      }
      BOOST_REQUIRE(scene.modlock({"update", "vpc=1.1.0"}).exit_code == 0);
      scene.name_id(a.commit({{"main.tf", "# other\n"}}), "moved");
      a.git({"tag", "--force", "v1.0.0", "main"});
      if (row.edits) {
        scene.write("main.tf", configuration);
      }
      const std::string before = scene.lock();
      const Ran ran = scene.modlock(row.undo);
      BOOST_TEST(ran.exit_code == 4, ran.err);
      BOOST_TEST(
          ran.err.find("the tag \"v1.0.0\" of \"git::file://<dir>/repositories/a.git\" was moved: module.vpc has "
                       "git:<1.0.0>, and git:<moved> would be locked [HASH_MISMATCH]") != std::string::npos,
          ran.err);
      BOOST_TEST(scene.lock() == before);
      std::vector<std::string> accepted = row.undo;
      accepted.emplace_back("--accept-moved");
      if (row.edits && row.undo[0] == "lock") {
        accepted = {"upgrade", "--target", "module.vpc"};  // the hint
      }
      const Ran second = scene.modlock(accepted);
      BOOST_TEST(second.exit_code == 0, second.err);
      BOOST_TEST(second.err.find("[TAG_MOVED]") != std::string::npos, second.err);
      BOOST_TEST(locked_commits(scene)["vpc"] == "<moved>");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_first_lock_names_a_commit_that_the_cache_has_seen_under_the_tag) {
  struct Row {
    const char* name;
    const char* query;
    const char* rule;
    const char* told;
  };
  const Row rows[] = {
      {"the tag of a version", "", "~> 1.0", "the tag \"v1.0.0\""},
      {"a full tag", "?ref=v1.0.0", "", "the tag \"v1.0.0\""},
      {"a branch", "?ref=main", "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Scene scene;
      GitRepository& a = scene.repository("a.git");
      scene.release(a, "1.0.0");
      scene.write("main.tf", module_call("a", "git::" + a.url() + row.query));
      scene.write(".tofu-modlock.hcl", *row.rule == '\0' ? "" : module_rule("a", row.rule));
      const Ran first = scene.modlock({"lock"});
      BOOST_TEST(first.exit_code == 0);
      BOOST_TEST(first.err.find("TAG_MOVED") == std::string::npos, first.err);
      scene.name_id(a.commit({{"main.tf", "# other\n"}}), "moved");
      a.git({"tag", "--force", "v1.0.0", "main"});
      std::filesystem::remove(scene.root() / ".terraform.lock.hcl");
      std::filesystem::remove_all(scene.root() / ".terraform");
      const Ran ran = scene.modlock({"lock"});
      BOOST_TEST(ran.exit_code == 0);
      const std::string told =
          std::string("Warning: ") + row.told +
          " of \"git::file://<dir>/repositories/a.git\" was moved: this cache has seen it point to "
          "git:<1.0.0>, and git:<moved> is locked [TAG_MOVED]\n";
      BOOST_TEST((ran.err.find(told) != std::string::npos) == (*row.told != '\0'), ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_moved_branch_is_an_update) {
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=main"));
  write(".tofu-modlock.hcl", "");
  modlock({"lock"});
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.0.0>");
  release(vpc, "1.1.0");
  modlock({"lock"});
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.0.0>");
  const Json::Value change = json({"upgrade"})["changes"][0];
  BOOST_TEST(change["action"].asString() == "updated");
  BOOST_TEST(change["from"]["commit"].asString() == "<1.0.0>");
  BOOST_TEST(change["to"]["commit"].asString() == "<1.1.0>");
}

BOOST_AUTO_TEST_CASE(calls_of_one_repository_share_a_version) {
  write("main.tf", module_call("a", "git::" + vpc.url(), "~> 1.0") + module_call("b", "git::" + vpc.url(), "<= 1.1.0"));
  write(".tofu-modlock.hcl", "");
  release(vpc, "1.1.0");
  release(vpc, "1.2.0");
  modlock({"lock"});
  BOOST_TEST((locked_commits(*this) == Commits{{"a", "<1.1.0>"}, {"b", "<1.1.0>"}}));
  BOOST_TEST(modlock({"upgrade", "--resolution", "per-call"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"a", "<1.2.0>"}, {"b", "<1.1.0>"}}));
  const Json::Value error = json({"lock", "--frozen"}, 3)["error"];
  BOOST_TEST(error["data"]["hint"].asString() ==
             "the lock file has a version for each call: set resolution = \"per-call\" in .tofu-modlock.hcl, or run "
             "tofu-modlock lock and review the change");
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\n");
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_conflict_names_every_constraint_and_the_way_out) {
  write("main.tf", module_call("a", "git::" + vpc.url(), "~> 1.0") + module_call("b", "git::" + vpc.url(), "~> 2.0"));
  write(".tofu-modlock.hcl", "");
  release(vpc, "2.0.0");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 6);
  for (const char* part : {"[CONSTRAINT_CONFLICT]", "~> 1.0", "~> 2.0", "module \"a\"", "module \"b\"", "main.tf:3",
                           "main.tf:7", "per-call"}) {
    BOOST_TEST(ran.err.find(part) != std::string::npos, part << " is not in " << ran.err);
  }
  BOOST_TEST(ran.err.find("set resolution = \"per-call\" in .tofu-modlock.hcl") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\n");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"lock", "--frozen"}, std::vector<std::string>{"install"},
        std::vector<std::string>{"verify"}}) {
    const Ran held = modlock(command);
    BOOST_TEST(held.exit_code == 0, held.err);
  }
}

BOOST_AUTO_TEST_CASE(no_matching_version_says_what_there_is) {
  for (const char* version : {"1.1.0", "1.2.0", "1.3.0"}) {
    release(vpc, version);
  }
  vpc.tag("nightly");
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 4.0"));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 6);
  for (const char* part : {"[NO_MATCHING_VERSION]", "~> 4.0", "1.3.0", "1.2.0", "1.1.0", "1 "}) {
    BOOST_TEST(ran.err.find(part) != std::string::npos, part << " is not in " << ran.err);
  }
  BOOST_TEST(ran.err.find("1.0.0") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
