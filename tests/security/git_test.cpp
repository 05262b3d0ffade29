// Repositories that want to run something here, to be written where they should not, or to pass a stranger's commit.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// With the repository below `place`, or among those of the scene.
struct GitScene : Scene {
  explicit GitScene(const fs::path& place = {}) : vpc((place.empty() ? repositories() : place) / "vpc.git") {
    vpc.configure("uploadpack.allowAnySHA1InWant", "true");
    first = release(vpc, "1.0.0");
    main_tf = vpc.id("v1.0.0:main.tf");
    write_text(path("secret"), "canary\n");
  }

  // A version whose tree is main.tf and these lines of `git ls-tree`.
  void release_tree(const std::string& lines) {
    const std::string tree = vpc.write_tree("100644 blob " + main_tf + "\tmain.tf\n" + lines);
    vpc.branch("main", vpc.commit_tree(tree, vpc.id("main")));
    vpc.tag("v1.1.0");
  }
  std::string link(const std::string& name, const std::string& target) {
    return "120000 blob " + vpc.write_blob(target) + "\t" + name + "\n";
  }

  Ran lock_of(const std::string& source) const {
    write("main.tf", module_call("vpc", source));
    fs::remove(root() / ".terraform.lock.hcl");
    return modlock({"lock", "--install"});
  }
  void check_refused(const std::string& source, int exit_code, const std::string& part) const {
    const Ran ran = lock_of(source);
    BOOST_TEST(ran.exit_code == exit_code, ran.exit_code << ran.out << ran.err);
    BOOST_TEST(ran.err.find(part) != std::string::npos, ran.err);
    BOOST_TEST(!has(".terraform.lock.hcl"));
    BOOST_TEST(!has(".terraform/modules/vpc"));
    check_nothing_ran();
  }
  void check_nothing_ran() const { BOOST_TEST(!fs::exists(path("ran"))); }
  std::string touch() const { return "touch " + path("ran").string(); }

  // Whatever names a commit that only a pull request, or nothing at all, leads to.
  void check_forks(const std::string& url) {
    const std::string tree = vpc.id("v1.0.0^{tree}");
    const std::string pulled = vpc.commit_tree(tree, first);
    vpc.git({"update-ref", "refs/pull/7/head", pulled});
    const std::string loose = vpc.commit_tree(tree, pulled);
    struct Row {
      const char* name;
      std::string ref;
      int exit_code;
      const char* code;
    };
    const Row rows[] = {
        {"a commit of a pull request", pulled, 4, "[HASH_MISMATCH]"},
        {"a commit of no reference", loose, 4, "[HASH_MISMATCH]"},
        {"a part of its id", pulled.substr(0, 12), 7, "[NOT_FOUND]"},
        {"the pull request", "refs/pull/7/head", 7, "[NOT_FOUND]"},
        {"the pull request in short", "pull/7/head", 7, "[NOT_FOUND]"},
    };
    // Whatever is fetched before, for one row or by a tag, makes no difference.
    fs::remove_all(cache());
    for (const char* pass : {"cold", "warm"}) {
      for (const Row& row : rows) {
        BOOST_TEST_CONTEXT(row.name << ", " << pass) {
          check_refused("git::" + url + "?ref=" + row.ref, row.exit_code, row.code);
        }
      }
      BOOST_TEST(lock_of("git::" + url + "?ref=v1.0.0").exit_code == 0);
      fs::remove_all(root() / ".terraform");
    }
    write(".tofu-modlock.hcl", module_rule("vpc", pulled));
    check_refused("git::" + url, 4, "[HASH_MISMATCH]");
    fs::remove(root() / ".tofu-modlock.hcl");
  }

  GitRepository vpc;
  std::string first;
  std::string main_tf;
};

BOOST_FIXTURE_TEST_SUITE(hostile_repositories, GitScene)

BOOST_AUTO_TEST_CASE(rejects_a_commit_that_exists_only_in_a_fork) {
  check_forks(vpc.url());
}

BOOST_AUTO_TEST_CASE(links_that_lead_out_by_others) {
  struct Row {
    const char* name;
    std::string lines;
  };
  const std::string inner = vpc.write_tree(link("up", "..") + link("away", "up/../secret"));
  for (const Row& row : {
           Row{"a chain of files", link("a", "b") + link("b", "c") + link("c", "../../../../secret")},
           Row{"a chain of directories", link("d", "e") + link("e", "f/..") + link("f", "../..")},
           Row{"by a directory that is one", link("x", "y/secret") + link("y", "../../..")},
           Row{"from below", "040000 tree " + inner + "\tsub\n" + link("z", "sub/away")},
           Row{"absolute at the end", link("a", "b") + link("b", path("secret").string())},
           Row{"round and round", link("a", "b") + link("b", "a")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      release_tree(row.lines);
      check_refused("git::" + vpc.url() + "?ref=v1.1.0", 4, "[ARCHIVE_UNSAFE]");
    }
  }
  release_tree(link("a", "b") + link("b", "main.tf") + link("d", "."));
  BOOST_TEST(lock_of("git::" + vpc.url() + "?ref=v1.1.0").exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_tree_that_would_become_a_repository) {
  const std::string hooks =
      vpc.write_tree("100755 blob " + vpc.write_blob("#!/bin/sh\n" + touch()) + "\tpost-checkout\n");
  const std::string directory = vpc.write_tree("040000 tree " + hooks + "\thooks\n");
  struct Row {
    const char* name;
    std::string lines;
  };
  for (const Row& row : {
           Row{"a directory", "040000 tree " + directory + "\t.git\n"},
           Row{"a directory in capitals", "040000 tree " + directory + "\t.GIT\n"},
           Row{"a directory of an old name", "040000 tree " + directory + "\tGIT~1\n"},
           Row{"a directory with what cannot be seen", "040000 tree " + directory + "\t.g\u200cit\n"},
           Row{"a file", "100644 blob " + vpc.write_blob("gitdir: ../../..\n") + "\t.git\n"},
           Row{"a link", link(".git", "../../..")},
           Row{"a link below", "040000 tree " + vpc.write_tree(link(".git", "../..")) + "\tsub\n"},
           Row{"a submodule", "160000 commit " + first + "\t.git\n"},
           Row{"a link for the description of submodules", link(".gitmodules", "main.tf")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      release_tree(row.lines);
      check_refused("git::" + vpc.url() + "?ref=v1.1.0", 4, "which no checkout may write [ARCHIVE_UNSAFE]");
    }
  }
}

BOOST_AUTO_TEST_CASE(addresses_of_submodules_that_inject) {
  struct Row {
    const char* name;
    std::string url;
    int exit_code;
    const char* code;
  };
  for (const Row& row : {
           Row{"a transport helper", "ext::" + touch(), 8, "[SOURCE_DENIED]"},
           Row{"a helper of descriptors", "fd::7", 8, "[SOURCE_DENIED]"},
           Row{"an option", "--upload-pack=" + touch(), 8, "[SOURCE_DENIED]"},
           Row{"an option as host", "ssh://-oProxyCommand=" + path("ran").string() + "/x", 8, "[SOURCE_DENIED]"},
           Row{"an option as host, in short", "-oProxyCommand=" + touch() + ":x", 8, "[SOURCE_DENIED]"},
           Row{"a repository of this machine", vpc.url(), 8, "[SOURCE_DENIED]"},
           Row{"a repository beside it", "../vpc.git", 8, "[SOURCE_DENIED]"},
           Row{"a line for a credential helper", "https://127.0.0.1:1/%0ahost=github.com/x", 8, "[SOURCE_INVALID]"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string description = "[submodule \"m\"]\n\tpath = m\n\turl = \"" + row.url + "\"\n";
      release_tree("100644 blob " + vpc.write_blob(description) + "\t.gitmodules\n160000 commit " + first + "\tm\n");
      check_refused("git::" + vpc.url() + "?ref=v1.1.0", row.exit_code, row.code);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_that_git_would_run_is_run) {
  const std::string script = "#!/bin/sh\n" + touch() + "\n";
  const auto plant = [&](const fs::path& directory) {
    for (const char* name : {"post-checkout", "post-index-change", "reference-transaction", "post-merge", "pre-receive",
                             "upload-pack", "fsmonitor-watchman", "update"}) {
      write_text(directory / name, script);
      fs::permissions(directory / name, fs::perms::owner_all);
    }
  };
  release(vpc, "1.1.0", {{".gitattributes", "* filter=evil diff=evil\n"}, {"hooks/post-checkout", script}});
  plant(vpc.path() / "hooks");
  plant(path("hooks"));
  write_text(vpc.path() / "config",
             read_text(vpc.path() / "config") + "[core]\n\tfsmonitor = " + touch() + "\n\tsshCommand = " + touch() +
                 "\n\tgitProxy = " + touch() + "\n\tpager = " + touch() + "\n\thooksPath = " + path("hooks").string() +
                 "\n[uploadpack]\n\tpackObjectsHook = " + touch() + "\n[filter \"evil\"]\n\tsmudge = " + touch() +
                 "\n[diff \"evil\"]\n\ttextconv = " + touch() + "\n[credential]\n\thelper = !" + touch() + "\n");
  write_text(path("home/.gitconfig"), "[core]\n\thooksPath = " + path("hooks").string() + "\n\tfsmonitor = " + touch() +
                                          "\n[filter \"evil\"]\n\trequired = true\n\tsmudge = " + touch() +
                                          "\n\tclean = " + touch() + "\n\tprocess = " + touch() + "\n");
  for (const char* engine : {"auto", "git"}) {
    BOOST_TEST_CONTEXT(engine) {
      environment["TOFU_MODLOCK_GIT_ENGINE"] = engine;
      fs::remove_all(cache());
      fs::remove_all(root() / ".terraform");
      const Ran ran = lock_of("git::" + vpc.url() + "?ref=v1.1.0");
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(modlock({"verify", "--online"}).exit_code == 0);
      BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.1.0\"") != std::string::npos);
      check_nothing_ran();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

struct Served {
  HttpsGitServer server;
};
struct ServedScene : Served, GitScene {
  ServedScene() : GitScene(server.repositories()) {
    environment["GIT_SSL_CAINFO"] = server.authority().string();
    environment["SSL_CERT_FILE"] = server.authority().string();
  }
};

BOOST_FIXTURE_TEST_SUITE(hostile_repositories_over_https, ServedScene, *needs(HttpsGitServer::kPrograms))

BOOST_AUTO_TEST_CASE(a_commit_of_a_fork_is_not_taken_from_a_server) {
  for (const char* engine : {"libgit2", "git"}) {
    BOOST_TEST_CONTEXT(engine) {
      environment["TOFU_MODLOCK_GIT_ENGINE"] = engine;
      check_forks(server.url("open", "vpc.git"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
