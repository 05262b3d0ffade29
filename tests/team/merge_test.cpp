// Branches that changed one lock file come together: `lock` keeps what was reviewed in either.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/support/provider_registry.h"
#include "tests/team/team_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Way = TeamScene::Way;

constexpr Way kWays[] = {Way::merge, Way::rebase, Way::cherry_pick, Way::stash_pop};

// Calls that are each in a file of its own, so that only the lock file is in conflict.
struct Merging : TeamScene {
  Merging() {
    for (const char* name : {"a", "b", "c", "d"}) {
      GitRepository& made = repository(std::string(name) + ".git");
      for (const char* version : {"1.0.0", "1.1.0", "1.2.0", "1.3.0"}) {
        made.commit({{"main.tf", std::string("# ") + name + version + "\n"}});
        made.tag(std::string("v") + version);
      }
    }
    write(".tofu-modlock.hcl", "source \"git::file://*\" {\n  version = \"~> 1.0\"\n}\n");
    call("a");
    call("d");
    lock_at({{"a", "1.0.0"}, {"d", "1.0.0"}});
    commit("first");
  }
  std::string url(const std::string& name) const {
    return "git::file://" + (repositories() / (name + ".git")).string();
  }
  void call(const std::string& name) const { write(name + ".tf", module_call(name, url(name))); }
  void constrain(const std::string& text) const {
    write(".tofu-modlock.hcl", "source \"git::file://*\" {\n  version = \"" + text + "\"\n}\n");
  }
  // Locks what is called, and has these versions locked.
  void lock_at(const std::map<std::string, std::string>& versions) const {
    const std::string settings = read(".tofu-modlock.hcl");
    std::string exact = settings;
    for (const auto& [name, version] : versions) {
      exact += module_rule(name, version);
    }
    write(".tofu-modlock.hcl", exact);
    succeed_lock();
    write(".tofu-modlock.hcl", settings);
    succeed_lock();
  }
  Ran succeed_lock(std::vector<std::string> arguments = {"lock"}) const {
    const Ran ran = modlock(std::move(arguments));
    BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
    return ran;
  }
  // The locked versions, "a 1.1.0 b 1.3.0".
  std::string locked() const {
    std::string text;
    const Json::Value inspected = json({"inspect"});
    for (const Json::Value& module : inspected["modules"]) {
      if (module.isMember("lockedVersion")) {
        text += (text.empty() ? "" : " ") + module["key"].asString() + " " + module["lockedVersion"].asString();
      }
    }
    return text;
  }
  // "ours" adds the call "b" and "theirs" the call "c", and each has this version of "a".
  void diverge_by_calls(const std::string& ours, const std::string& theirs) const {
    diverge(
        [&] {
          call("b");
          lock_at({{"a", ours}, {"b", "1.1.0"}});
        },
        [&] {
          call("c");
          lock_at({{"a", theirs}, {"c", "1.2.0"}});
        });
  }
  // Leaves what is under way, and both branches.
  void start_over() const {
    succeed({"reset", "--quiet", "--hard"});
    git({"rebase", "--quit"});
    succeed({"checkout", "--quiet", "main"});
    succeed({"branch", "-D", "ours", "theirs"});
  }
  bool is_conflicted() const { return lock().find("<<<<<<<") != std::string::npos; }
  // The lock answers the configuration, which costs no request.
  void check_frozen() const {
    const Json::Value result = json({"lock", "--frozen"});
    BOOST_TEST(result["stats"]["requests"].asInt() == 0);
    BOOST_TEST(result["changes"].empty());
  }
  void check_lock_command(const std::string& versions) const {
    const Json::Value result = json({"lock"});
    BOOST_TEST(result["stats"]["requests"].asInt() == 0);
    BOOST_TEST(locked() == versions);
    check_frozen();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(team_merges, Merging)

BOOST_AUTO_TEST_CASE(calls_that_both_sides_added_keep_their_versions) {
  for (const Way way : kWays) {
    BOOST_TEST_CONTEXT(way) {
      succeed({"checkout", "--quiet", "main"});
      diverge_by_calls("1.0.0", "1.0.0");
      bring_theirs(way);
      BOOST_TEST(is_conflicted());
      check_lock_command("a 1.0.0 b 1.1.0 c 1.2.0 d 1.0.0");
      start_over();
    }
  }
}

BOOST_AUTO_TEST_CASE(of_an_entry_that_both_sides_changed_the_higher_version_stays_and_is_named) {
  for (const Way way : kWays) {
    BOOST_TEST_CONTEXT(way) {
      succeed({"checkout", "--quiet", "main"});
      diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}, {"d", "1.1.0"}}); });
      bring_theirs(way);
      BOOST_TEST(is_conflicted());
      const Ran ran = succeed_lock();
      BOOST_TEST(ran.out ==
                 "module.a  1.2.0  merged: both sides changed it, to 1.1.0 and to 1.2.0  (~> 1.0)\n"
                 "module.d  1.1.0  merged: the other side changed it  (~> 1.0)\n\n"
                 "tofu-modlock has changed the module selections in .terraform.lock.hcl.\n"
                 "Review and commit the change if it is what you intended.\n"
                 "Next: run tofu-modlock install, then tofu init.\n");
      BOOST_TEST(ran.err == "");
      BOOST_TEST(locked() == "a 1.2.0 d 1.1.0");
      check_frozen();
      start_over();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_version_that_the_merged_constraints_exclude_gives_way_to_the_other_side) {
  diverge(
      [&] {
        lock_at({{"a", "1.1.0"}, {"d", "1.0.0"}});
        write(".tofu-modlock.hcl", read(".tofu-modlock.hcl") + module_rule("a", "< 1.2.0"));
        succeed_lock();
      },
      [&] {
        lock_at({{"a", "1.3.0"}});
      });
  bring_theirs(Way::merge);
  BOOST_TEST(is_conflicted());
  const Json::Value result = json({"lock"});
  BOOST_TEST(locked() == "a 1.1.0 d 1.0.0");
  check_frozen();
}

BOOST_AUTO_TEST_CASE(versions_that_the_merged_constraints_both_exclude_are_resolved_again) {
  diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}}); });
  bring_theirs(Way::merge);
  constrain("~> 1.3");
  write("d.tf", "");
  const Ran ran = succeed_lock();
  BOOST_TEST(
      ran.out.find("module.a  1.3.0                merged: both sides changed it, to 1.1.0 and to 1.2.0  (~> 1.3)\n") ==
          0U,
      ran.out);
  check_frozen();
}

BOOST_AUTO_TEST_CASE(a_downgrade_that_one_side_made_is_not_undone) {
  lock_at({{"d", "1.3.0"}});
  commit("newest");
  diverge(
      [&] {
        call("b");
        lock_at({{"b", "1.1.0"}, {"d", "1.0.0"}});
      },
      [&] {
        call("c");
        lock_at({{"c", "1.1.0"}});
      });
  bring_theirs(Way::merge);
  BOOST_TEST(is_conflicted());
  check_lock_command("a 1.0.0 b 1.1.0 c 1.1.0 d 1.0.0");
}

BOOST_AUTO_TEST_CASE(checkout_of_one_side_does_not_lose_the_other) {
  for (const bool added : {false, true}) {
    for (const char* side : {"--ours", "--theirs"}) {
      BOOST_TEST_CONTEXT(side << (added ? ", added" : "")) {
        succeed({"checkout", "--quiet", "main"});
        diverge(
            [&] {
              lock_at({{"a", "1.2.0"}, {"d", "1.3.0"}});
            },
            [&] {
              call("c");
              lock_at({{"a", "1.1.0"}, {"c", "1.0.0"}});
            });
        bring_theirs(Way::merge);
        succeed({"checkout", side, "--", ".terraform.lock.hcl"});
        BOOST_TEST(!is_conflicted());
        if (added) {
          succeed({"add", "--all"});
        }
        check_lock_command("a 1.2.0 c 1.0.0 d 1.3.0");
        const std::string once = lock();
        BOOST_TEST(succeed_lock().out == "The lock file is up to date.\n");
        BOOST_TEST(lock() == once);
        start_over();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(checkout_of_one_side_while_rebasing_or_picking_does_not_lose_the_other) {
  for (const Way way : {Way::rebase, Way::cherry_pick, Way::stash_pop}) {
    BOOST_TEST_CONTEXT(way) {
      succeed({"checkout", "--quiet", "main"});
      diverge(
          [&] {
            lock_at({{"a", "1.2.0"}, {"d", "1.3.0"}});
          },
          [&] {
            call("c");
            lock_at({{"a", "1.1.0"}, {"c", "1.0.0"}});
          });
      bring_theirs(way);
      succeed({"checkout", "--ours", "--", ".terraform.lock.hcl"});
      if (way != Way::stash_pop) {
        succeed({"add", "--all"});
      }
      check_lock_command("a 1.2.0 c 1.0.0 d 1.3.0");
      succeed({"reset", "--quiet", "--hard"});
      git({"stash", "drop"});
      git({"clean", "--quiet", "--force"});
      start_over();
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_chosen_while_merging_stays) {
  diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}}); });
  bring_theirs(Way::merge);
  succeed_lock();
  BOOST_TEST(modlock({"upgrade", "--target", "module.a"}).exit_code == 0);
  BOOST_TEST(locked() == "a 1.3.0 d 1.0.0");
  check_lock_command("a 1.3.0 d 1.0.0");
}

BOOST_AUTO_TEST_CASE(markers_are_enough) {
  for (const char* style : {"merge", "diff3", "zdiff3"}) {
    BOOST_TEST_CONTEXT(style) {
      succeed({"config", "merge.conflictStyle", style});
      succeed({"checkout", "--quiet", "main"});
      diverge_by_calls("1.2.0", "1.1.0");
      bring_theirs(Way::merge);
      // As if the markers had been committed: the index has one stage, and no merge is under way.
      succeed({"add", "--all"});
      succeed({"commit", "--quiet", "--message=markers"});
      BOOST_TEST(is_conflicted());
      check_lock_command("a 1.2.0 b 1.1.0 c 1.2.0 d 1.0.0");
      start_over();
    }
  }
}

BOOST_AUTO_TEST_CASE(different_hashes_of_one_version_are_never_settled) {
  const auto with_hash = [&](const std::string& h1) {
    lock_at({{"a", "1.1.0"}});
    std::string text = lock();
    const std::size_t at = text.find("h1:");
    text.replace(at, 8, "h1:" + h1);
    write(".terraform.lock.hcl", text);
  };
  diverge([&] { with_hash("aaaaa"); }, [&] { with_hash("bbbbb"); });
  bring_theirs(Way::merge);
  for (const char* side : {"", "--ours", "--theirs"}) {
    BOOST_TEST_CONTEXT(side) {
      if (*side != '\0') {
        succeed({"checkout", side, "--", ".terraform.lock.hcl"});
      }
      const std::string before = lock();
      const Json::Value error = json({"lock"}, 4)["error"];
      BOOST_TEST(error["data"]["code"].asString() == "HASH_MISMATCH");
      BOOST_TEST(error["data"]["subject"].asString() == "module.a");
      const std::string message = error["message"].asString();
      BOOST_TEST(message.find(
                     "the two sides of the merge have different hashes for module \"a\", 1.1.0 of git::file://") == 0U,
                 message);
      BOOST_TEST(message.find("h1:aaaaa") != std::string::npos, message);
      BOOST_TEST(message.find("h1:bbbbb") != std::string::npos, message);
      BOOST_TEST(lock() == before);
    }
  }
}

BOOST_AUTO_TEST_CASE(different_content_of_one_commit_is_never_settled) {
  write("a.tf", module_call("a", url("a") + "?ref=v1.0.0"));
  commit("by tag");
  const auto with_hash = [&](const std::string& h1) {
    write("a.tf", module_call("a", url("a") + "?ref=v1.1.0"));
    succeed_lock();
    std::string text = lock();
    text.replace(text.find("h1:"), 8, "h1:" + h1);
    write(".terraform.lock.hcl", text);
  };
  diverge([&] { with_hash("aaaaa"); }, [&] { with_hash("bbbbb"); });
  bring_theirs(Way::merge);
  BOOST_TEST(json({"lock"}, 4)["error"]["data"]["code"].asString() == "HASH_MISMATCH");
}

BOOST_AUTO_TEST_CASE(commits_of_a_branch_that_differ_are_resolved_again) {
  GitRepository moving(repositories() / "moving.git");
  moving.commit({{"main.tf", "# 1\n"}});
  write("a.tf", module_call("a", "git::" + moving.url() + "?ref=main"));
  succeed_lock();
  commit("by branch");
  const auto move_on = [&](const std::string& text) {
    moving.commit({{"main.tf", text}});
    succeed_lock({"upgrade", "--target", "module.a"});
  };
  diverge([&] { move_on("# 2\n"); }, [&] { move_on("# 3\n"); });
  name_id(moving.commit({{"main.tf", "# 4\n"}}), "newest");
  bring_theirs(Way::merge);
  const Ran ran = succeed_lock();
  BOOST_TEST(ran.out.find("module.a  main (<newest...>)  merged: both sides changed it, to main (") == 0U, ran.out);
  check_frozen();
}

BOOST_AUTO_TEST_CASE(other_commands_name_the_way_out) {
  diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}}); });
  bring_theirs(Way::merge);
  const std::string before = lock();
  const std::vector<std::string> commands[] = {{"install"}, {"verify"}, {"lock", "--frozen"},        {"upgrade"},
                                               {"inspect"}, {"sbom"},   {"update", "module.a=1.3.0"}};
  for (const auto& command : commands) {
    BOOST_TEST_CONTEXT(command[0]) {
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == 8);
      const std::string err = ran.err + ran.out;
      BOOST_TEST(err.find("the file has conflict markers of a merge") != std::string::npos, err);
      BOOST_TEST(err.find("LOCK_PARSE") != std::string::npos, err);
      BOOST_TEST(err.find("run: tofu-modlock lock") != std::string::npos, err);
      BOOST_TEST(lock() == before);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_incomplete_conflict_is_refused) {
  diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}}); });
  bring_theirs(Way::merge);
  std::string text = lock();
  text.resize(text.find("=======\n"));
  write(".terraform.lock.hcl", text);
  BOOST_TEST(json({"lock"}, 8)["error"]["data"]["code"].asString() == "LOCK_PARSE");
  BOOST_TEST(lock() == text);
}

BOOST_AUTO_TEST_CASE(a_side_that_cannot_be_read_is_not_empty) {
  diverge(
      [&] {
        lock_at({{"a", "1.1.0"}});
      },
      [&] {
        lock_at({{"a", "1.2.0"}});
        write(".terraform.lock.hcl", lock() + "module \"x\" {\n");
      });
  bring_theirs(Way::merge);
  const std::string before = lock();
  const Json::Value error = json({"lock"}, 8)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "LOCK_PARSE");
  BOOST_TEST(error["data"]["location"]["path"].asString() == ".terraform.lock.hcl (theirs)");
  BOOST_TEST(error["data"]["hint"].asString() ==
             "git has this text as the side \"theirs\". Write the correct lock file without conflict markers, then git "
             "add and commit it: lock works again after the commit");
  BOOST_TEST(lock() == before);
}

// A colleague's `tofu init` rewrote the file.
BOOST_AUTO_TEST_CASE(blocks_that_a_client_dropped_on_one_side_come_back) {
  diverge(
      [&] {
        lock_at({{"a", "1.1.0"}});
      },
      [&] {
        write(".terraform.lock.hcl",
              "# This file is maintained automatically by \"tofu init\".\n"
              "# Manual edits may be lost in future updates.\n");
      });
  fs::remove_all(root() / ".terraform");
  bring_theirs(Way::merge);
  BOOST_TEST(is_conflicted());
  check_lock_command("a 1.1.0 d 1.0.0");
}

BOOST_AUTO_TEST_CASE(a_call_that_the_merge_no_longer_has_goes) {
  diverge(
      [&] {
        fs::remove(root() / "a.tf");
        succeed_lock();
      },
      [&] {
        lock_at({{"a", "1.2.0"}});
      });
  bring_theirs(Way::merge);
  check_lock_command("d 1.0.0");
}

BOOST_AUTO_TEST_CASE(dry_run_shows_the_merge_and_writes_nothing) {
  diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}}); });
  bring_theirs(Way::merge);
  const std::string before = lock();
  const Ran ran = succeed_lock({"lock", "--dry-run"});
  BOOST_TEST(ran.out.find("-<<<<<<< HEAD\n") != std::string::npos, ran.out);
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(a_sidecar_is_merged_too) {
  write("settings.txt", "");
  write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n" + read(".tofu-modlock.hcl"));
  succeed_lock();
  commit("sidecar");
  diverge_by_calls("1.2.0", "1.1.0");
  bring_theirs(Way::merge);
  BOOST_TEST(read(".terraform.modules.lock.hcl").find("<<<<<<<") != std::string::npos);
  check_lock_command("a 1.2.0 b 1.1.0 c 1.2.0 d 1.0.0");
}

BOOST_AUTO_TEST_CASE(a_root_below_the_top_of_the_repository) {
  fs::create_directories(root() / "live/shop");
  const auto in_shop = [&](const std::string& version) {
    write("live/shop/main.tf", module_call("a", url("a")));
    write("live/shop/.tofu-modlock.hcl", module_rule("a", version));
    succeed_lock({"lock", "--chdir", "live/shop"});
    write("live/shop/.tofu-modlock.hcl", module_rule("a", "~> 1.0"));
    succeed_lock({"lock", "--chdir", "live/shop"});
  };
  in_shop("1.0.0");
  commit("shop");
  diverge([&] { in_shop("1.2.0"); }, [&] { in_shop("1.1.0"); });
  bring_theirs(Way::merge);
  const Ran ran = succeed_lock({"lock", "--chdir", "live/shop"});
  BOOST_TEST(ran.out.find("module.a  1.2.0  merged: both sides changed it, to 1.2.0 and to 1.1.0  (~> 1.0)\n") == 0U,
             ran.out);
}

// Commands that leave no file behind that says what is under way.
BOOST_AUTO_TEST_CASE(checkout_of_one_side_after_any_command_that_left_a_conflict) {
  const std::vector<std::vector<std::string>> commands[] = {
      {{"merge", "--squash", "theirs"}},
      {{"cherry-pick", "--no-commit", "theirs"}},
      {{"stash", "push", "--quiet"}, {"checkout", "--quiet", "ours"}, {"stash", "pop"}, {"stash", "drop"}},
  };
  for (const auto& steps : commands) {
    BOOST_TEST_CONTEXT(steps.front()[0]) {
      succeed({"checkout", "--quiet", "main"});
      diverge([&] { lock_at({{"a", "1.2.0"}}); }, [&] { lock_at({{"a", "1.1.0"}, {"d", "1.3.0"}}); });
      if (steps.size() > 1) {
        succeed({"checkout", "--quiet", "--detach", "theirs"});
        succeed({"reset", "--quiet", "--soft", "main"});
      }
      for (const auto& step : steps) {
        git(step);
      }
      BOOST_TEST(is_conflicted());
      succeed({"checkout", "--ours", "--", ".terraform.lock.hcl"});
      check_lock_command("a 1.2.0 d 1.3.0");
      start_over();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rebase_that_was_left_is_no_merge) {
  for (const bool linked : {false, true}) {
    BOOST_TEST_CONTEXT(linked) {
      succeed({"checkout", "--quiet", "main"});
      diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}, {"d", "1.3.0"}}); });
      bring_theirs(Way::rebase);
      succeed({"rebase", "--quit"});
      succeed({"reset", "--quiet", "--hard"});
      succeed({"checkout", "--quiet", "ours"});
      BOOST_TEST(git({"rev-parse", "--verify", "REBASE_HEAD"}).exit_code == 0);
      BOOST_TEST(succeed_lock().out == "The lock file is up to date.\n");
      BOOST_TEST(locked() == "a 1.1.0 d 1.0.0");
      if (!linked) {
        succeed({"worktree", "add", "--quiet", (path("linked")).string(), "theirs"});
        const Ran ran = modlock({"lock", "--chdir", path("linked").string()});
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(ran.out == "The lock file is up to date.\n");
        succeed({"worktree", "remove", "--force", path("linked").string()});
      }
      succeed({"checkout", "--quiet", "main"});
      succeed({"branch", "-D", "ours", "theirs"});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rename_on_one_side_keeps_the_version_of_the_other) {
  for (const bool with_driver : {false, true}) {
    for (const bool ours_renames : {false, true}) {
      BOOST_TEST_CONTEXT((ours_renames ? "ours" : "theirs") << (with_driver ? ", driver" : "")) {
        succeed({"checkout", "--quiet", "main"});
        if (with_driver) {
          write(".gitattributes", ".terraform.lock.hcl merge=tofu-modlock\n");
          succeed({"config", "merge.tofu-modlock.driver", "'" + binary + "' merge --marker-size %L %O %A %B"});
          commit("attributes");
        }
        const auto rename = [&] {
          fs::remove(root() / "a.tf");
          write("new.tf", module_call("new", url("a")));
          succeed_lock();
        };
        const auto bump = [&] { lock_at({{"a", "1.1.0"}}); };
        diverge(ours_renames ? std::function<void()>(rename) : bump,
                ours_renames ? std::function<void()>(bump) : rename);
        bring_theirs(Way::merge);
        BOOST_TEST(is_conflicted() == !with_driver);
        check_lock_command("d 1.0.0 new 1.1.0");
        start_over();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(different_hashes_under_two_labels_are_never_settled) {
  const auto with_hash = [&](const std::string& label, const std::string& h1) {
    write(label + ".tf", module_call(label, url("b")));
    lock_at({{label, "1.1.0"}});
    std::string text = lock();
    text.replace(text.find("h1:", text.find("\"" + label + "\"")), 8, "h1:" + h1);
    write(".terraform.lock.hcl", text);
  };
  diverge([&] { with_hash("x", "aaaaa"); }, [&] { with_hash("y", "bbbbb"); });
  bring_theirs(Way::merge);
  const std::string before = lock();
  const Json::Value error = json({"lock"}, 4)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "HASH_MISMATCH");
  BOOST_TEST(error["message"].asString().find("different hashes for module \"x\" and module \"y\", 1.1.0 of ") !=
             std::string::npos);
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(line_endings_of_the_work_tree_stay) {
  succeed({"config", "core.autocrlf", "true"});
  diverge([&] { lock_at({{"a", "1.1.0"}}); }, [&] { lock_at({{"a", "1.2.0"}}); });
  bring_theirs(Way::merge);
  BOOST_TEST(lock().find("\r\n") != std::string::npos);
  succeed_lock();
  const std::string text = lock();
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == std::count(text.begin(), text.end(), '\r'));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct MergingProviders : TeamScene {
  MergingProviders() {
    for (const char* version : {"1.0.0", "1.1.0", "1.2.0", "1.3.0"}) {
      registry.publish({.name = "acme/cloud", .version = version, .platforms = {"darwin_arm64", "linux_amd64"}});
    }
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    lock_at("1.0.0");
    commit("first");
  }
  void lock_at(const std::string& version) const {
    write("main.tf", required_cloud(version));
    BOOST_TEST(modlock({"upgrade", "--platform", "linux_amd64"}).exit_code == 0);
    write("main.tf", required_cloud("~> 1.0"));
    BOOST_TEST(modlock({"lock", "--platform", "linux_amd64"}).exit_code == 0);
  }
  std::string locked() const {
    const std::string text = lock();
    const std::size_t at = text.find("version");
    return text.substr(at, text.find('\n', at) - at);
  }
  ProviderRegistry registry;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(team_merges_providers, MergingProviders)

BOOST_AUTO_TEST_CASE(the_higher_version_that_is_allowed_stays) {
  diverge([&] { lock_at("1.2.0"); }, [&] { lock_at("1.1.0"); });
  bring_theirs(Way::merge);
  const Ran ran = modlock({"lock", "--platform", "linux_amd64"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(
      ran.out.find("provider.registry.opentofu.org/acme/cloud  1.2.0  merged: both sides changed it, to 1.2.0 and "
                   "to 1.1.0  (1.2.0)\n") == 0U,
      ran.out);
  BOOST_TEST(locked() == "version     = \"1.2.0\"");
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_version_that_is_excluded_gives_way) {
  diverge([&] { lock_at("1.2.0"); }, [&] { lock_at("1.1.0"); });
  bring_theirs(Way::merge);
  write("main.tf", required_cloud("< 1.2.0"));
  BOOST_TEST(modlock({"lock", "--platform", "linux_amd64"}).exit_code == 0);
  BOOST_TEST(locked() == "version     = \"1.1.0\"");
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(versions_that_are_all_excluded_are_resolved_again) {
  diverge([&] { lock_at("1.2.0"); }, [&] { lock_at("1.1.0"); });
  bring_theirs(Way::merge);
  write("main.tf", required_cloud("> 1.2.0"));
  BOOST_TEST(modlock({"lock", "--platform", "linux_amd64"}).exit_code == 0);
  BOOST_TEST(locked() == "version     = \"1.3.0\"");
}

BOOST_AUTO_TEST_CASE(hashes_of_both_sides_stay) {
  const auto with_hash = [&](const std::string& hash) {
    lock_at("1.2.0");
    std::string text = lock();
    text.insert(text.find("    \"zh:"), "    \"" + hash + "\",\n");
    write(".terraform.lock.hcl", text);
  };
  diverge([&] { with_hash("h1:ours"); }, [&] { with_hash("h1:theirs"); });
  bring_theirs(Way::merge);
  BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
  BOOST_TEST(lock().find("    \"h1:ours\",\n    \"h1:theirs\",\n") != std::string::npos, lock());
}

BOOST_AUTO_TEST_CASE(are_not_left_out_while_both_sides_changed_them) {
  diverge([&] { lock_at("1.2.0"); }, [&] { lock_at("1.1.0"); });
  bring_theirs(Way::merge);
  const std::string before = lock();
  const Ran ran = modlock({"lock", "--include", "modules"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err.find("both sides of the merge changed provider.registry.opentofu.org/acme/cloud, which --include "
                          "excludes [LOCK_PARSE]") != std::string::npos,
             ran.err);
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
