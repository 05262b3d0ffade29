#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <optional>

#include "backends/git/git_backend.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/https_git_server.h"
#include "tests/support/loopback.h"
#include "tests/support/needs.h"
#include "tests/support/process_group.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGitDaemon = "/usr/lib/git-core/git-daemon";

// A repository on a server that speaks only protocol v0 and gives out branches and tags alone.
struct OldServer : GitFixture {
  OldServer() {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    second = repository.commit({{"main.tf", "# 2\n"}});
    third = repository.commit({{"main.tf", "# 3\n"}});
  }
  ~OldServer() { fs::remove_all(repository.path()); }
  std::string url() const { return server()->plain_url("old", "m.git"); }
  std::string display() const { return "git::" + url(); }

  GitRepository repository{server()->repositories() / "m.git"};
  std::string first;
  std::string second;
  std::string third;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(git_transport, *boost::unit_test::fixture<ServerOfSuite>())

BOOST_AUTO_TEST_CASE(git_daemon_serves_the_git_scheme, *needs(kGitDaemon)) {
  GitFixture fixture;
  GitRepository repository{fixture.directory / "served" / "m.git"};
  const std::string commit = repository.commit({{"main.tf", "# 1\n"}});
  repository.tag("v1.0.0");
  const int port = free_port();
  ProcessGroup daemon(
      {kGitDaemon, "--listen=127.0.0.1", "--port=" + std::to_string(port), "--export-all",
       "--base-path=" + (fixture.directory / "served").string(), (fixture.directory / "served").string()},
      fixture.directory / "daemon.log");
  BOOST_REQUIRE(daemon.wait_until([port] { return accepts(port); }));
  const std::string url = "git://127.0.0.1:" + std::to_string(port) + "/m.git";
  const auto listing = fixture.backend->list_versions(fixture.source(url), "", fixture.context);
  BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
  BOOST_TEST(listing->versions.at(0).id == commit);
  BOOST_TEST(outcome(fixture.fetch_one(url, {commit, "refs/tags/v1.0.0", false})) == "ok");
  const std::string absent = "git://127.0.0.1:" + std::to_string(port) + "/absent.git";
  BOOST_TEST(outcome(fixture.backend->list_versions(fixture.source(absent), "", fixture.context)) ==
             "NOT_FOUND: git could not list the tags of \"git::" + absent +
                 "\": repository not found, or access denied");
}

BOOST_AUTO_TEST_CASE(an_alias_of_ssh_is_given_to_git_unchanged) {
  GitFixture fixture;
  GitRepository repository{fixture.directory / "m.git"};
  const std::string commit = repository.commit({{"main.tf", "# 1\n"}});
  const fs::path program = fixture.directory / "ssh";
  write_text(program, "#!/bin/sh\nfor last; do host=$command; command=$last; done\necho \"$host\" >> " +
                          (fixture.directory / "hosts").string() + "\nexec sh -c \"$command\"\n");
  fs::permissions(program, fs::perms::owner_all);
  const ScopedEnvironment ssh("GIT_SSH_COMMAND", program.string());
  const std::string path = (fixture.directory / "m.git").string();
  for (const std::string& url : {"Work-1:" + path, "git+ssh://Work-1" + path}) {
    const auto pinned = fixture.backend->pin(fixture.source(url), fixture.context);
    BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
    BOOST_TEST(pinned->id == commit);
    BOOST_TEST(outcome(fixture.fetch_one(url, {commit, "HEAD", false})) == "ok");
  }
  BOOST_TEST(read_text(fixture.directory / "hosts").starts_with("Work-1\n"));
  // A rule of the user for the alias, which no host has.
  write_text(fixture.directory / "home" / ".gitconfig",
             "[url \"file://" + fixture.directory.path().string() + "/\"]\n\tinsteadOf = gh:\n");
  BOOST_TEST(outcome(fixture.backend->pin(fixture.source("gh:m.git"), fixture.context)) == "ok");
  // Lists could not know where the rule leads.
  fs::remove(fixture.directory / "hosts");
  BOOST_TEST(outcome(fixture.backend->pin(fixture.source("gh:" + path), fixture.context)) == "ok");
  BOOST_TEST(read_text(fixture.directory / "hosts").starts_with("gh\n"));
}

BOOST_AUTO_TEST_CASE(a_server_of_plain_files_gives_whole_packs, *needs(HttpsGitServer::kPrograms)) {
  OldServer old;
  old.repository.git({"update-server-info"});
  const std::string url = server()->plain_url("dumb", "m.git");
  const auto tree = old.fetch_one(url, {old.first, "refs/tags/v1.0.0", false});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "# 1\n");
  const auto inner = old.fetch_one(url, {old.second, "", true});
  BOOST_REQUIRE_EQUAL(outcome(inner), "ok");
  BOOST_TEST(read_text(inner->directory / "main.tf") == "# 2\n");
}

BOOST_AUTO_TEST_CASE(an_inner_commit_comes_with_the_whole_history, *needs(HttpsGitServer::kPrograms)) {
  OldServer old;
  const auto pinned = old.backend->pin(old.source(old.url() + "?ref=" + old.second), old.context);
  BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
  const auto tree = old.fetch_one(old.url(), {old.second, "", true});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "# 2\n");
  const auto tip = old.fetch_one(old.url(), {old.third, "", true});
  BOOST_TEST(outcome(tip) == "ok");
  const auto part = old.backend->pin(old.source(old.url() + "?ref=" + old.first.substr(0, 9)), old.context);
  BOOST_REQUIRE_EQUAL(outcome(part), "ok");
  BOOST_TEST(part->id == old.first);
}

BOOST_AUTO_TEST_CASE(a_moved_tag_leaves_the_locked_commit_there_too, *needs(HttpsGitServer::kPrograms)) {
  OldServer old;
  old.repository.tag("v1.0.0", old.third);
  const auto tree = old.fetch_one(old.url(), {old.second, "refs/tags/v1.0.0", true});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_REQUIRE_EQUAL(tree->warnings.size(), 1U);
  BOOST_TEST(to_string(tree->warnings[0].what.code) == "TAG_MOVED");
}

BOOST_AUTO_TEST_CASE(what_no_branch_leads_to_is_refused_there_too, *needs(HttpsGitServer::kPrograms)) {
  OldServer old;
  const std::string fork = old.repository.commit_tree(old.repository.id("main^{tree}"), old.third);
  for (const std::string& commit : {fork, std::string(40, '1')}) {
    BOOST_TEST(outcome(old.fetch_one(old.url(), {commit, "", true})) ==
               "NOT_FOUND: \"" + old.display() + "\" has no branch or tag from which commit " + commit +
                   " is reachable, and serves no other commits");
    BOOST_TEST(outcome(old.fetch_one(old.url(), {commit, "refs/tags/v1.0.0", true})).substr(0, 14) == "HASH_MISMATCH:");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
