#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <optional>

#include "backends/base/digest.h"
#include "backends/base/process.h"
#include "backends/git/git_backend.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/loopback.h"
#include "tests/support/needs.h"
#include "tests/support/process_group.h"
#include "tests/support/run.h"
#include "tests/support/ssh_server.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

std::optional<SshServer>& ssh_server() {
  static std::optional<SshServer> running;
  return running;
}

struct SshServerOfSuite {
  SshServerOfSuite() {
    if (missing_programs(SshServer::kPrograms).empty()) {
      ssh_server().emplace();
    }
  }
  ~SshServerOfSuite() { ssh_server().reset(); }
};

struct Ssh : GitFixture {
  Ssh() {
    commit = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    repository.commit({{"main.tf", "# 2\n"}});
  }
  std::string url() const { return ssh_server()->url(repository.path()); }
  std::string display() const { return "git::" + url(); }
  Result<Listing> list(const std::string& from) { return backend->list_versions(source(from), "", context); }
  // The user's key as `?sshkey=` takes it.
  static std::string key_argument() {
    const std::string key = read_text(ssh_server()->key());
    const std::vector<std::uint8_t> bytes(key.begin(), key.end());
    std::string text = base64(bytes);
    for (std::size_t at = 0; (at = text.find('+', at)) != std::string::npos;) {
      text.replace(at, 1, "%2B");
    }
    return "sshkey=" + text;
  }

  GitRepository repository{directory / "remote.git"};
  std::string commit;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(git_ssh, *boost::unit_test::fixture<SshServerOfSuite>())

BOOST_AUTO_TEST_CASE(versions_references_and_packages_come, *needs(SshServer::kPrograms)) {
  Ssh ssh;
  const ScopedEnvironment command("GIT_SSH_COMMAND", ssh_server()->command());
  for (const std::string& url : {ssh.url(), "ssh://modlock-alias" + ssh.repository.path().string()}) {
    BOOST_TEST_CONTEXT(url) {
      const auto listing = ssh.list(url);
      BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
      BOOST_REQUIRE_EQUAL(listing->versions.size(), 1U);
      BOOST_TEST(listing->versions[0].id == ssh.commit);
      BOOST_TEST(outcome(ssh.backend->pin(ssh.source(url + "?ref=" + ssh.commit.substr(0, 8)), ssh.context)) == "ok");
      const auto tree = ssh.fetch_one(url, {ssh.commit, "refs/tags/v1.0.0", false});
      BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
      BOOST_TEST(read_text(tree->directory / "main.tf") == "# 1\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_command_of_gits_configuration_counts, *needs(SshServer::kPrograms)) {
  Ssh ssh;
  write_text(ssh.directory / "home" / ".gitconfig", "[core]\n\tsshCommand = " + ssh_server()->command() + "\n");
  BOOST_TEST(outcome(ssh.list(ssh.url())) == "ok");
}

BOOST_AUTO_TEST_CASE(a_key_of_the_agent_is_offered, *needs("ssh-agent, ssh-add") * needs(SshServer::kPrograms)) {
  Ssh ssh;
  const fs::path socket = ssh.directory / "agent";
  ProcessGroup agent({find_server("ssh-agent"), "-D", "-a", socket.string()}, ssh.directory / "agent.log");
  BOOST_REQUIRE(agent.wait_until([&] { return fs::exists(socket); }));
  // The user's file of ssh: no key is named, and nothing says which agent.
  const fs::path settings = ssh.directory / "ssh_config";
  write_text(settings, "Host *\n  IdentityFile /dev/null\n  GlobalKnownHostsFile /dev/null\n  UserKnownHostsFile " +
                           (ssh_server()->key().parent_path() / "known_hosts").string() + "\n");
  const ScopedEnvironment command("GIT_SSH_COMMAND", "ssh -F " + settings.string());
  const ScopedEnvironment variable("SSH_AUTH_SOCK", socket.string());
  BOOST_TEST(outcome(ssh.list(ssh.url())).substr(0, 14) == "AUTH_REQUIRED:");
  run({"ssh-add", "-q", ssh_server()->key().string()});
  BOOST_TEST(outcome(ssh.list(ssh.url())) == "ok");
  const auto tree = ssh.fetch_one(ssh.url(), {ssh.commit, "refs/tags/v1.0.0", false});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "# 1\n");
  run({"ssh-add", "-q", "-D"});
  BOOST_TEST(outcome(ssh.list(ssh.url())).substr(0, 14) == "AUTH_REQUIRED:");
}

BOOST_AUTO_TEST_CASE(a_key_of_the_address_is_offered_and_leaves_nothing, *needs(SshServer::kPrograms)) {
  Ssh ssh;
  const ScopedEnvironment command("GIT_SSH_COMMAND", ssh_server()->command(false));
  BOOST_TEST(outcome(ssh.list(ssh.url())).substr(0, 14) == "AUTH_REQUIRED:");

  const fs::path temporary = ssh.directory / "temporary";
  fs::create_directories(temporary);
  const ScopedEnvironment where("TMPDIR", temporary.string());
  // A git that keeps its arguments and the mode of the key.
  const fs::path record = ssh.directory / "record";
  const fs::path program = ssh.directory / "bin" / "git";
  write_text(program, "#!/bin/sh\necho \"$@\" >> " + record.string() + "\nstat -c %a " + temporary.string() +
                          "/*/* >> " + record.string() + "\nexec " + find_program("git")->string() + " \"$@\"\n");
  fs::permissions(program, fs::perms::owner_all);
  const ScopedEnvironment path("PATH", (ssh.directory / "bin").string() + ":/usr/bin:/bin");

  const std::string url = ssh.url() + "?" + Ssh::key_argument();
  BOOST_TEST(outcome(ssh.list(url)) == "ok");
  BOOST_TEST(outcome(ssh.fetch_one(url, {ssh.commit, "refs/tags/v1.0.0", false})) == "ok");
  BOOST_TEST(fs::is_empty(temporary));
  std::string kept = read_text(record);
  BOOST_TEST(kept.find("600\n") != std::string::npos);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(ssh.directory / "cache")) {
    kept += entry.path().string() + (entry.is_regular_file() ? read_text(entry.path()) : "");
  }
  const std::string key = read_text(ssh_server()->key());
  BOOST_TEST(kept.find(key.substr(40, 40)) == std::string::npos);
  BOOST_TEST(kept.find(Ssh::key_argument().substr(60, 40)) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_not_base64_is_refused, *needs(SshServer::kPrograms)) {
  Ssh ssh;
  for (const char* key : {"%2A%2A", "abc", "a=bc", "abc=====", "YWJj=YWJ"}) {
    BOOST_TEST_CONTEXT(key) {
      const auto listing = ssh.list(ssh.url() + "?sshkey=" + key);
      BOOST_TEST(outcome(listing) ==
                 "SOURCE_INVALID: the argument sshkey of the git source \"" + ssh.display() + "\" is not base64");
    }
  }
}

BOOST_AUTO_TEST_CASE(refusals_say_what_to_do, *needs(SshServer::kPrograms)) {
  Ssh ssh;
  const std::string doing = "git could not list the tags of \"" + ssh.display() + "\": ";
  const std::string host = "127.0.0.1:" + std::to_string(ssh_server()->port());
  {
    const ScopedEnvironment command("GIT_SSH_COMMAND", ssh_server()->command(false));
    const auto refused = ssh.list(ssh.url());
    BOOST_TEST(outcome(refused) ==
               "AUTH_REQUIRED: " + doing + "the ssh host " + host +
                   " accepted no key (looked in: the ssh agent, ssh's configuration and default keys)");
    BOOST_TEST(refused.error().hint ==
               "load a key that may read the repository: ssh-add, then try: git ls-remote " + ssh.url());
  }
  {
    const ScopedEnvironment command("GIT_SSH_COMMAND", ssh_server()->command(true, false));
    const auto unknown = ssh.list(ssh.url());
    BOOST_TEST(outcome(unknown) == "AUTH_REQUIRED: " + doing + "the key of the ssh host " + host +
                                       " is not known (looked in: the known_hosts files of ssh)");
    BOOST_TEST(unknown.error().hint == "check the host's key and record it: ssh-keyscan -p " +
                                           std::to_string(ssh_server()->port()) + " 127.0.0.1 >> ~/.ssh/known_hosts");
  }
  const ScopedEnvironment command("GIT_SSH_COMMAND", ssh_server()->command());
  BOOST_TEST(outcome(ssh.list(ssh_server()->url(ssh.directory / "absent.git"))) ==
             "NOT_FOUND: git could not list the tags of \"git::" + ssh_server()->url(ssh.directory / "absent.git") +
                 "\": repository not found, or access denied");
  const RefusedPort refused;
  const std::string url = "ssh://git@127.0.0.1:" + std::to_string(refused.port()) + "/x.git";
  BOOST_TEST(outcome(ssh.list(url)) ==
             "UNREACHABLE: git could not list the tags of \"git::" + url + "\": the server could not be reached");
}

BOOST_AUTO_TEST_CASE(a_submodule_in_scp_form_comes, *needs(SshServer::kPrograms)) {
  Ssh ssh;
  const ScopedEnvironment command("GIT_SSH_COMMAND", ssh_server()->command());
  GitRepository inner{ssh.directory / "inner.git"};
  const std::string inner_commit = inner.commit({{"inner.tf", "# inner\n"}});
  for (const std::string& url : {"modlock-alias:" + inner.path().string(), std::string("../inner.git")}) {
    BOOST_TEST_CONTEXT(url) {
      const std::string tree = ssh.repository.write_tree(
          "100644 blob " + ssh.repository.write_blob("[submodule \"i\"]\n\tpath = i\n\turl = " + url + "\n") +
          "\t.gitmodules\n160000 commit " + inner_commit + "\ti\n");
      ssh.repository.branch("main", ssh.repository.commit_tree(tree));
      const auto fetched = ssh.fetch_one(ssh.url(), {ssh.repository.id("main"), "refs/heads/main", false});
      BOOST_REQUIRE_EQUAL(outcome(fetched), "ok");
      BOOST_TEST(read_text(fetched->directory / "i/inner.tf") == "# inner\n");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
