// Repositories that lie, vanish or stay silent: a clear error, and what was locked and installed stays.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"
#include "tests/support/https_git_server.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct BadOrigin : Scene {
  BadOrigin() : vpc(repository("vpc.git")) {
    first = release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    modlock({"lock", "--install"});
    before = lock();
    tree = read(".terraform/modules/vpc/main.tf");
    vpc.configure("uploadpack.allowAnySHA1InWant", "true");
  }
  void check_refused(const std::vector<std::string>& command, int exit_code,
                     const std::vector<std::string>& parts) const {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == exit_code, ran.exit_code << " " << ran.out << ran.err);
    for (const std::string& part : parts) {
      BOOST_TEST(ran.err.find(part) != std::string::npos, part << " is not in " << ran.err);
    }
    check_kept();
  }
  void check_kept() const {
    BOOST_TEST(lock() == before);
    BOOST_TEST(read(".terraform/modules/vpc/main.tf") == tree);
  }
  // The next install must go to the origin and put another tree in place of the one that lies there.
  void forget() {
    fs::remove_all(cache());
    tree = "# not what was locked\n";
    write(".terraform/modules/vpc/main.tf", tree);
  }
  void edit_lock(const std::string& what, const std::string& with) {
    before.replace(before.find(what), what.size(), with);
    write(".terraform.lock.hcl", before);
  }
  // As somebody's fork would hold it: known to the repository, on no branch or tag.
  std::string foreign_commit() { return vpc.commit_tree(vpc.id("v1.0.0^{tree}"), first); }

  GitRepository& vpc;
  std::string first;
  std::string before;
  std::string tree;
};

BOOST_FIXTURE_TEST_SUITE(bad_origin, BadOrigin)

BOOST_AUTO_TEST_CASE(a_tag_that_points_to_a_blob) {
  vpc.tag("v1.1.0", vpc.write_blob("no commit"));
  check_refused({"upgrade"}, 7, {"[NOT_FOUND]", "v1.1.0", "points to a blob"});
}

BOOST_AUTO_TEST_CASE(a_repository_that_vanished) {
  fs::remove_all(vpc.path());
  check_refused({"upgrade"}, 7, {"[NOT_FOUND]", "<dir>/repositories/vpc.git"});
  forget();
  check_refused({"install"}, 5, {"[NOT_FOUND]", "<dir>/repositories/vpc.git"});
}

// The limit of `timeout` is there for a failure only.
BOOST_AUTO_TEST_CASE(a_silent_server_is_left_at_the_deadline_of_a_request) {
  const SilentServer silent;
  write("main.tf", module_call("vpc", "git::https://127.0.0.1:" + std::to_string(silent.port()) + "/vpc.git"));
  const std::string params = R"({"root":")" + root().string() + R"(","_meta":{"deadlineMs":300}})";
  const Ran ran = program(
      {"timeout", "20", binary, "serve"},
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["1.0"],"clientInfo":{"name":"t","version":"1"}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"lock/plan","params":)" +
          params + "}\n");
  BOOST_TEST(ran.exit_code == 0);
  const std::size_t second = ran.out.find('\n') + 1;
  const auto answer = parse_json(ran.out.substr(second, ran.out.size() - second - 1));
  BOOST_REQUIRE_MESSAGE(answer.has_value(), ran.out);
  BOOST_TEST((*answer)["error"]["data"]["code"].asString() == "DEADLINE_EXCEEDED", ran.out);
  check_kept();
}

BOOST_AUTO_TEST_CASE(a_silent_server_is_left_at_the_fetch_timeout) {
  FaultServer silent([](const ReceivedRequest&) { return ServerAnswer{.status = 404}; });
  silent.add({.behaviour = faults::black_hole()});
  const std::string address = "git::http://" + silent.host() + "/vpc.git";
  write("main.tf", module_call("vpc", address));
  write_text(path("home/.config/tofu-modlock/config.hcl"), "fetch_timeout = \"1s\"\n");
  for (const char* engine : {"auto", "git"}) {
    BOOST_TEST_CONTEXT(engine) {
      const std::size_t before = silent.log().size();
      const auto by_flag = modlock({"versions", address, "--git-engine", engine, "--fetch-timeout", "1s"});
      BOOST_TEST(by_flag.exit_code == 7);
      BOOST_TEST(by_flag.err.find("TIMEOUT") != std::string::npos, by_flag.err);
      BOOST_TEST(silent.log().size() - before == 1U);  // one silence, however often a request might be sent
      const auto by_setting = modlock({"lock", "--git-engine", engine});
      BOOST_TEST(by_setting.exit_code == 7);
      BOOST_TEST(by_setting.err.find("TIMEOUT") != std::string::npos, by_setting.err);
    }
  }
  write(".tofu-modlock.hcl", "");
  for (const char* const source : {"/vpc.zip", "/vpc"}) {  // an archive, and a server that could name its location
    BOOST_TEST_CONTEXT(source) {
      const std::size_t before = silent.log().size();
      write("main.tf", "module \"vpc\" {\n  source = \"http://" + silent.host() + source + "\"\n}\n");
      const auto archive = modlock({"lock"});
      BOOST_TEST(archive.exit_code == 7);
      BOOST_TEST(archive.err.find("the server was silent for 1 s") != std::string::npos, archive.err);
      BOOST_TEST(silent.log().size() - before == 1U);
    }
  }
  for (const char* wrong : {"0", "11m", "soon"}) {
    const auto refused = modlock({"versions", address, "--fetch-timeout", wrong});
    BOOST_TEST(refused.exit_code == 2);
    BOOST_TEST(refused.err.find("--fetch-timeout must be a duration from 1s to 10m") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_moved_tag_whose_old_commit_is_reachable) {
  const std::string moved = release(vpc, "1.0.1");
  vpc.tag("v1.0.0", moved);
  forget();
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 4);  // for the file that forget() has edited, once
  BOOST_TEST(ran.err.find("was changed after it was installed") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("[TAG_MOVED]") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("<1.0.0>") != std::string::npos, ran.err);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.0.0\"") != std::string::npos);
  BOOST_TEST(lock() == before);
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_moved_tag_whose_old_commit_is_unreachable) {
  const std::string other = vpc.commit({{"main.tf", "# other\n"}}, "rewritten");
  vpc.branch("main", other);
  vpc.tag("v1.0.0", other);
  forget();
  check_refused({"install"}, 4, {"[HASH_MISMATCH]", "<1.0.0>"});
}

BOOST_AUTO_TEST_CASE(a_branch_that_was_rewritten_is_called_a_branch) {
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=main"));
  write(".tofu-modlock.hcl", "");
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  vpc.git({"tag", "--delete", "v1.0.0"});
  const std::string other = vpc.commit({{"main.tf", "# other\n"}}, "rewritten");
  vpc.branch("main", other);
  forget();
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.err.find("branch") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("the tag") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(an_edited_pair_of_hashes_that_names_a_foreign_commit) {
  edit_lock(first, foreign_commit());  // the same files: h1 matches
  forget();
  check_refused({"install"}, 4, {"[HASH_MISMATCH]"});
}

// That its objects lie in the cache proves nothing: only that a branch or tag led there when they were fetched does.
BOOST_AUTO_TEST_CASE(a_commit_that_only_the_lock_and_the_cache_know) {
  const std::string foreign = foreign_commit();
  edit_lock(first, foreign);
  for (const auto& cached : fs::directory_iterator(cache() / "v2/git")) {
    const Ran fetched = program({"git", "-C", cached.path().string(), "fetch", "--quiet", vpc.url(), foreign});
    BOOST_TEST(fetched.exit_code == 0, fetched.err);
  }
  tree = "# not what was locked\n";
  write(".terraform/modules/vpc/main.tf", tree);
  check_refused({"install", "--offline"}, 7, {"[OFFLINE_MISS]"});
  check_refused({"install"}, 4, {"[HASH_MISMATCH]"});
}

// Its content is locked and installed, but the cache has no record that a branch or tag led to it.
BOOST_AUTO_TEST_CASE(an_installation_proves_no_commit) {
  const std::string foreign = foreign_commit();
  edit_lock(first, foreign);
  check_refused({"install", "--offline"}, 7, {"[OFFLINE_MISS]"});
  check_refused({"install"}, 4, {"[HASH_MISMATCH]"});
  for (const bool has_record : {true, false}) {
    BOOST_TEST_CONTEXT((has_record ? "a record that the checkout brings" : "no record")) {
      fs::remove_all(cache());
      for (const auto& entry : fs::directory_iterator(root() / ".terraform/tofu-modlock/files")) {
        std::string text = read_text(entry.path());
        if (const std::size_t at = text.find(first); at != std::string::npos && has_record) {
          write_text(entry.path(), text.replace(at, first.size(), foreign));
        } else if (!has_record) {
          fs::remove(entry.path());
        }
      }
      check_refused({"install", "--offline"}, 7, {"[OFFLINE_MISS]"});
      check_refused({"install"}, 4, {"[HASH_MISMATCH]"});
    }
  }
}

BOOST_AUTO_TEST_CASE(an_edited_h1) {
  edit_lock("h1:uCR9", "h1:aaaa");
  forget();
  check_refused({"install"}, 4, {"[HASH_MISMATCH]", "h1:aaaa", "h1:uCR9", "module.vpc"});
}

BOOST_AUTO_TEST_CASE(an_edited_h1_although_the_store_has_the_commit) {
  edit_lock("h1:uCR9", "h1:aaaa");
  check_refused({"install"}, 4, {"[HASH_MISMATCH]", "h1:aaaa", "h1:uCR9"});
}

BOOST_AUTO_TEST_CASE(a_changed_package_in_the_store) {
  struct Row {
    const char* name;
    std::string text;
  };
  const std::string locked = lock();
  for (const Row& row : {Row{"a comment", "# planted\n"}, Row{"no configuration at all", std::string(20, '\0')},
                         Row{"another call", module_call("evil", "git::" + vpc.url())}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto damage = [&] {
        for (const auto& entry : fs::recursive_directory_iterator(cache() / "v2/packages")) {
          if (entry.path().filename() == "main.tf") {
            fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
            write_text(entry.path(), row.text);
          }
        }
        fs::remove_all(root() / ".terraform/modules");
      };
      for (const char* command : {"lock", "upgrade", "inspect", "install"}) {
        damage();
        const Ran ran = modlock({command});
        BOOST_TEST(ran.exit_code == 0, command << ": " << ran.err);
        BOOST_TEST(lock() == locked);
      }
      BOOST_TEST(read(".terraform/modules/vpc/main.tf") == tree);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
      damage();
      fs::remove(root() / ".terraform.lock.hcl");
      const Ran anew = modlock({"lock"});
      BOOST_TEST(anew.exit_code == 0, anew.err);
      BOOST_TEST(anew.err.find("was damaged: it has been fetched again [HASH_MISMATCH]") != std::string::npos,
                 anew.err);
      BOOST_TEST(lock() == locked);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_repository_in_the_cache) {
  for (const auto& entry : fs::recursive_directory_iterator(cache() / "v2/git")) {
    if (entry.is_regular_file() && entry.path().string().find("/objects/") != std::string::npos) {
      fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
      write_text(entry.path(), "damaged\n");
    }
  }
  fs::remove_all(cache() / "v2/packages");
  fs::remove_all(root() / ".terraform/modules");
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == tree);
}

BOOST_AUTO_TEST_CASE(links_that_leave_the_package) {
  struct Row {
    const char* name;
    const char* target;
  };
  int patch = 0;
  for (const Row& row : {Row{"absolute", "/etc/passwd"}, Row{"upwards", "../../../../secret"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string link = vpc.write_blob(row.target);
      const std::string commit = vpc.commit_tree(vpc.write_tree("120000 blob " + link + "\tlink\n"), vpc.id("main"));
      vpc.branch("main", commit);
      vpc.tag("v1.1." + std::to_string(patch++), commit);
      check_refused({"upgrade"}, 4, {"[ARCHIVE_UNSAFE]", "link"});
    }
  }
}

BOOST_AUTO_TEST_CASE(an_override_file_of_ours_in_a_package) {
  release(vpc, "1.1.0", {{"modlock_override.tf", "# planted\n"}});
  check_refused({"upgrade"}, 4, {"[ARCHIVE_UNSAFE]", "modlock_override.tf"});
}

BOOST_AUTO_TEST_CASE(two_tags_of_one_version) {
  release(vpc, "1.2.0");
  vpc.tag("1.2.0", first);
  check_refused({"upgrade"}, 6, {"[VERSION_AMBIGUOUS]", "\"1.2.0\" and \"v1.2.0\""});
  // Where another version is the one selected, nobody minds.
  release(vpc, "1.3.0");
  BOOST_TEST(modlock({"upgrade"}).exit_code == 0);
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.3.0>");
}

BOOST_AUTO_TEST_CASE(build_metadata_names_one_of_two_tags) {
  release(vpc, "1.2.0+b1");
  release(vpc, "1.2.0+b2");
  const auto rule = [&](const std::string& version) { write(".tofu-modlock.hcl", module_rule("vpc", version)); };
  for (const char* range : {">= 1.2", "1.2.0"}) {
    rule(range);
    check_refused({"upgrade"}, 6,
                  {"the tags \"v1.2.0+b1\" and \"v1.2.0+b2\" of ", " name version 1.2.0, but different commits",
                   "hint: name the version exactly, with its build metadata, such as \"1.2.0+build.3\"; a \"!=\" "
                   "constraint excludes all builds of a version"});
  }
  for (const char* excluding : {">= 1.2, != 1.2.0+b1", "1.2.0+b3"}) {
    rule(excluding);
    check_refused({"upgrade"}, 6, {"[NO_MATCHING_VERSION]"});
  }
  for (const char* build : {"1.2.0+b2", "1.2.0+b1"}) {
    rule(build);
    BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 3);
    BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
    BOOST_TEST(locked_commits(*this)["vpc"] == "<" + std::string(build) + ">");
    BOOST_TEST(modlock({"verify", "--online"}).exit_code == 0);
  }
  // A range keeps the locked build.
  rule(">= 1.2");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.2.0+b1>");
}

BOOST_AUTO_TEST_CASE(two_tags_of_one_version_and_commit) {
  release(vpc, "1.2.0");
  vpc.tag("1.2.0", "v1.2.0");
  BOOST_TEST(modlock({"upgrade"}).exit_code == 0);
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.2.0>");
}

BOOST_AUTO_TEST_CASE(one_unresolvable_call_means_no_edit_at_all) {
  release(vpc, "1.1.0");
  write("more.tf", module_call("more", "git::file://" + path("nowhere").string()));
  check_refused({"upgrade"}, 7, {"[NOT_FOUND]", "nowhere"});
}

BOOST_AUTO_TEST_CASE(an_installation_is_replaced_whole_or_not_at_all) {
  GitRepository& other = repository("other.git");
  const std::string id = release(other, "2.0.0");
  write("more.tf", module_call("other", "git::" + other.url() + "?ref=v2.0.0"));
  modlock({"lock"});
  before = lock();
  edit_lock("git:" + id, "git:" + std::string(40, 'a'));
  const std::string manifest = read(".terraform/modules/modules.json");
  fs::remove_all(cache());
  BOOST_TEST(modlock({"install"}).exit_code != 0);
  check_kept();
  BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  BOOST_TEST(!has(".terraform/modules/other"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
